"""Neural graph embedding for architecture search (Li, Gong & Zhu, AAAI 2020).

`embedding.py` is the module of the paper, `alternatives.py` what its Table 4 compares it with.
`algorithm.py` is Algorithm 1 over a supernet (`supernets.py`), and `policy.py` a policy gradient
on the table of NAS-Bench-201. docs/neural-graph-embedding.md says what the paper leaves open and
what came of it.
"""
