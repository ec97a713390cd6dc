"""What other people's servers of the same trade do under the same load, each in its own process."""
