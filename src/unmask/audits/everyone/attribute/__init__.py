"""Attributes in the coin game: how much better secrets are guessed with a person than without."""
