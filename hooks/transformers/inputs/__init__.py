"""Example inputs of the models of transformers."""
