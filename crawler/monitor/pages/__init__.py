"""What the monitor shows, a module for each page: it makes the values of its template, and carries out its actions."""
