"""The audit of a release: a real table, one or more synthetic ones, perhaps a holdout, and no generator.

One file per part of the audit.
"""
