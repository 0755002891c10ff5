"""Search of a latent space (section 4.3), and cells that are decoded from it."""
