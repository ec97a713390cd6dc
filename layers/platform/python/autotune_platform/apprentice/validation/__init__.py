"""What a trained version has to show on examples that it never saw, before anybody asks it."""
