"""Pages as discovery sees them: parsed, with selectors of what was found on them."""
