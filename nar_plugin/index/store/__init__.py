"""What an index is on disk and in memory: manifest, shards, rows, vectors, labels, graphs."""
