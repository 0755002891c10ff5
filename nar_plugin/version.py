"""The version, here alone: a frozen program has no metadata of its packages."""

VERSION = "0.1.0"
