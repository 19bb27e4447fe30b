"""Record completion: some columns of a person are known, the release completes all others. One file per attack.

domains     the values that can be guessed: those of the release
matches     the rows that agree best with what is known, exact values before bins
trees       an ensemble of trees for each hidden column
network     a tree-shaped Bayesian network, exact posteriors, and the likeliest record as a whole
combined    the three pooled, with weights learnt from rows of the release whose columns were hidden
published   the rows of a release in random order, block by block
completion  the attack on real people, on holdout people, and without the release
"""
