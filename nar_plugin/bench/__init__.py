"""What `nar dev bench` measures: the cost of a query, the coverage of model libraries."""
