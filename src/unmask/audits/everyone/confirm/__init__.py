"""The exact game at full size for the most exposed people."""
