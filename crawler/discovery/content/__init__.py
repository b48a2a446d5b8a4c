"""How the pages are read to which results lead."""
