"""Bounds on epsilon, one method per file."""
