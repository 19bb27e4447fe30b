"""The command line: it prints and sets exit codes; everything worth testing is below it.

One file per verb, named as it is called.
"""
