"""Which seeds are claimed, when, and by whom; and all that a worker holds of the frontier."""
