"""Calling addresses that come from outside: which are called, and for how long."""
