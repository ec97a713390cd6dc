"""What every HTTP function shares: signatures checked, errors returned as problem+json."""
