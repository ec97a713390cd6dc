"""Trainings: from frozen examples to a version that is put beside callers, or to nothing."""
