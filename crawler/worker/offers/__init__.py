"""Seeds that pages lead to, on their way to the frontier."""
