"""Fills pools: draws releases in parallel, one file per draw, resumed after interruption."""
