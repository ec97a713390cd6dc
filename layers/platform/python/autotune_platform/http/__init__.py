"""What every HTTP function shares: signatures checked, errors told as problem+json."""
