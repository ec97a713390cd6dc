"""How each provider is asked and what its answers mean; nothing here does any I/O."""
