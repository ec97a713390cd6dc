"""One stream of inputs, answered by the paid model, by what others do, and by an apprentice."""
