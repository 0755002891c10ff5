"""Models as researchers and students write them, one public function each.

Nothing here tells what a model's inputs are, beyond what its own code and names say.
"""
