"""Search spaces whose networks have measured accuracies, as batches of small graphs."""
