"""Which rows are near a vector, or pass a filter: exact answers, whatever proposes them."""
