"""How claims end: what is delivered, what is told, and what the frontier hears of it."""
