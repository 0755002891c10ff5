"""Recorded calls -> canonical operations: the rules, and what rewrites by them."""
