"""Files of the Hugging Face Hub: described by a server, proven, and fetched into the Hub's cache.

A server is not trusted here. Each name that it gives is proven before it becomes a path
(`names.py`), each wait and each size has a limit (`waiting.py`, `cache.py`), and each failure is an
error that says what helps (`failures.py`).
"""
