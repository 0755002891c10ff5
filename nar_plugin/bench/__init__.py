"""What `nar bench` measures: the cost of a query, the coverage of model libraries."""
