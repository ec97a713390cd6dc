"""Calls to graders: signed requests, checked answers, probes."""
