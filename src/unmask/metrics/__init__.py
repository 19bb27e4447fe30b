"""Measures of a release that need no generator: similarity, matching, linkage, the three legal criteria."""
