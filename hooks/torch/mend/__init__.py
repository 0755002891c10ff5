"""Other inputs, after a forward refused the guesses: what its message asks for."""
