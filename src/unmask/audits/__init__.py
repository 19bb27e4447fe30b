"""Audits: what is run, what comes out, and what it means."""
