"""Bets against a claim of differential privacy: can anybody tell a table with the target from one without?

Each attack divides outputs into two regions before a run is seen, and bets in them that the target is in or out. *Static* ones
know the tables D and D' and bet from the first run. *Planned* ones read the likelihood ratio, in regions fixed by simulation.
*Learnt* ones are refitted after 32, 64, 128, ... runs, from earlier runs only. A *fingerprint* recognises outputs that came
before: noise from a fixed seed repeats itself. `Wager` holds what all of them own.
"""
