"""A copy of the model's structure on the meta device, which the forward runs on."""
