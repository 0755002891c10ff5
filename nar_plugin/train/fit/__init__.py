"""Train the encoder on the corpus, and write the embedded default."""
