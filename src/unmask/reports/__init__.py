"""Readers of results: they see `Result` and nothing else."""
