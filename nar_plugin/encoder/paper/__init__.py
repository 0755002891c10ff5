"""The encoder of Neural Architecture Retrieval (Eq. 8): motifs, then the macro graph of motifs."""
