"""How turns of hosts and addresses are acquired and released, and which lane goes on next."""
