"""Records the calls of a forward, and answers what meta tensors cannot."""
