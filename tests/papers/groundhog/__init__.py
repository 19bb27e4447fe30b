"""Stadler et al. 2022, Synthetic Data - Anonymisation Groundhog Day."""
