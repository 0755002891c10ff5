"""Example inputs of the models of diffusers."""
