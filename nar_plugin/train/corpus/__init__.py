"""The corpus: build it, move it, label and split it, tell what changed."""
