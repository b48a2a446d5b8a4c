"""Addresses that others put into lists in Redis."""
