"""Building the corpus and training the encoder: the [train] extra."""
