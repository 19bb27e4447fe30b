"""The audit of a generator: many releases with and without each target, and attacks on all of them."""
