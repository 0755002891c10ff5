"""Built-in plugins: one file says everything about one model library, whose name it has.

So a file is not even imported while nobody has imported its library.
"""

# Files whose name nobody can import.
OF_MANY = frozenset({"lucidrains", "nas_cells", "pt2", "reference", "torchscript"})
