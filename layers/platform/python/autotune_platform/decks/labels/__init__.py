"""What people say of a deck's samples: ratings, ground truth, and how far judges agree with it."""
