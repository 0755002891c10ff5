"""Built-in plugins: one file says everything about one model library."""
