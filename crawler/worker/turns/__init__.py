"""When a request may be sent: turns of hosts and addresses, lanes, shares, and the way out to the web."""
