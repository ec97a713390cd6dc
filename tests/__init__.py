"""Tests: a package, since ppi-python installs one of this name, which Python would find first."""
