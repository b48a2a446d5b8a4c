"""How a site is searched: by a form, by what it declares, or as its scripts do."""
