"""A claimed seed on its turn: its visit, its requests, and what each ends with."""
