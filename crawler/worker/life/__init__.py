"""What a worker may take of its node, who orders it about, and what wakes it."""
