"""Pools for generators that somebody else runs: files that go out and come back."""
