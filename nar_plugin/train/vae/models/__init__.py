"""The six autoencoders of Table 1 and their parts."""
