"""Random tables, schemas, plans, results and run directories through the command line: `make fuzz`, or `python -m tests.fuzz`.

Nothing that a file or an option can hold may end in a traceback, in exit code 70, in a hang, in control characters on a terminal,
or in values that changed without a word.
"""
