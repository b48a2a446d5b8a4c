"""What the monitor shows, a module for each page: it makes the values of its template, and carries out its actions.

A handler raises RefusedRequestError for what it doesn't carry out, and HeadroomError where a server is away or refuses;
`app.py` makes a page of both.
"""
