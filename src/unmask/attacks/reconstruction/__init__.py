"""Rebuilding train records from what a provider's privacy metrics answer (ganev2023), step by step.

padding         reading the distance of one row through the metrics
sample, search  ReconSyn as printed: SampleAttack and SearchAttack
guided_search   the same with far fewer questions
differencing    membership and attributes of people of whom something is known
swiss_cheese    the holes that a similarity filter leaves in numeric data

All see an `unmask.threats.oracle.Oracle` and nothing else.
"""
