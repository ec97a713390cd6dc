"""What a task of the apprentice is: versions of its configuration, which never change."""
