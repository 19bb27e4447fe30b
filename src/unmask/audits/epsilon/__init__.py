"""The audit of a differential-privacy claim: one coin per run, and bets on it."""
