"""Example inputs for a module that no library's plugin knows."""
