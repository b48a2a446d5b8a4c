"""What every other package may use, and what knows none of them."""
