"""What all tests share."""

from hypothesis import settings

# Machines are slow at times, and every run tries the same examples: what fails here fails anywhere.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
