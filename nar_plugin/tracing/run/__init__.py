"""Ask a model for its graph: inputs, attempts, one forward, and what to do when it fails."""
