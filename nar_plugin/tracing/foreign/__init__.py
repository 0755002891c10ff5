"""Kernels that are not plain ATen: Triton's, known by name, and quantized ones."""
