"""Signing in to the console by OpenID Connect, at the provider of this installation."""
