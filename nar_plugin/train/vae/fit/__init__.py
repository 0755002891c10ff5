"""Training: the settings, where a training is kept, and the epochs."""
