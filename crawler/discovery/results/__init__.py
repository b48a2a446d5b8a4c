"""What stands on pages of results: the results, the way to further pages, and the mark of none."""
