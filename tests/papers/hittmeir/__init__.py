"""Hittmeir et al. 2020, utility and privacy of synthetic tables with numbers."""
