"""A GGUF file, written by its specification."""

import struct


def gguf(tensors, keys=()):
    """As https://github.com/ggml-org/ggml/blob/master/docs/gguf.md has it."""
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(keys) + 2)]
    parts.append(text("general.architecture") + struct.pack("<I", 8) + text("llama"))
    parts.append(text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc"))
    parts += [text(key) + struct.pack("<II", 4, 7) for key in keys]
    for name, sides, kind in tensors:
        parts.append(text(name) + struct.pack("<I", len(sides)))
        parts.append(struct.pack(f"<{len(sides)}Q", *sides) + struct.pack("<IQ", kind, 0))
    return b"".join(parts)


def text(word):
    return struct.pack("<Q", len(word)) + word.encode()
