"""The experiments of the papers: one package per paper, one file per figure or table. `python -m tests.papers --list`."""
