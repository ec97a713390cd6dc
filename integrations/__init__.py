"""Tests against software of other people: trainers and SDKs, each in an environment of its own."""
