"""What a worker tells operators."""
