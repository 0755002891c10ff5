"""A kernel as users write them; Triton reads its source from this file."""

import triton
import triton.language as tl


@triton.jit
def add_into(x, y, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    total = tl.load(x + place, mask=inside) + tl.load(y + place, mask=inside)
    tl.store(out + place, total, mask=inside)


@triton.jit
def swiglu_fwd_kernel(x, y, z, count, BLOCK: tl.constexpr):
    """Named as flash-linear-attention's, which is known."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    gate = tl.load(x + place, mask=inside)
    tl.store(z + place, gate * tl.sigmoid(gate) * tl.load(y + place, mask=inside), mask=inside)
