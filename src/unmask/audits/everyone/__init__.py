"""The audit of everyone: the risk of each person in a table, for the price of K fits."""
