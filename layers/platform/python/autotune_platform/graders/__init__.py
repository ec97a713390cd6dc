"""Registered graders, and the gateway through which they are called."""
