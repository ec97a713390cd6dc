"""What developers run besides make's own commands."""
