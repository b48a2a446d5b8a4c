"""How answers get here: addresses that may be asked, bounds on what comes, codings undone, errors in words."""
