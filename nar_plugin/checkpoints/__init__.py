"""Checkpoints as questions: which known designs have weights of these shapes.

A file of weights has no forward. What it has is a multiset of tensor shapes, and the graph of each
row of an index says which shapes its operations need. So nothing is stored beside the index, and
the user's own models are found too. Names of tensors never rank.
"""

from nar_plugin.checkpoints.tensors import Checkpoint, Tensor

__all__ = ["Checkpoint", "Tensor"]
