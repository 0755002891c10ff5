"""Operation embeddings in variational autoencoders of architectures (Chatzianastasis et al. 2021).

docs/operation-embeddings.md says what the paper states, what it leaves open and what came of it.
"""
