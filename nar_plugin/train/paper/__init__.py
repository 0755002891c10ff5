"""The method of the paper as the paper states it: `docs/paper.md` lists what it leaves open."""
