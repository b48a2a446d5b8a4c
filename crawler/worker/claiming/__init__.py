"""From the claim of a seed to its settlement."""
