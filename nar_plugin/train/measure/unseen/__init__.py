"""How well a method compares designs that it does not know: edits, kin and ordered triples."""
