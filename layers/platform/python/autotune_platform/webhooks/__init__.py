"""Telling organisations what happened: events, subscriptions and deliveries."""
