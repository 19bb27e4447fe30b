"""Generators that others wrote: a Python class, a command in any language, an SDV synthesizer."""
