def unsupported(provider, params):
    return None
