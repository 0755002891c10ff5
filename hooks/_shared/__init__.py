"""What the plugins of several libraries share."""
