"""Measure methods: splits asked, metrics, tables and figures."""
