"""The audit of everyone for a generator that its owner runs."""
