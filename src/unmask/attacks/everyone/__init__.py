"""Attacks on everybody at once: features of all units against one synthetic table, and the scorer that learns from runs."""
