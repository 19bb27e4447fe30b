"""What a synthetic table is still good for: how far it is from the real one, and what can be learnt from it.

One file per notion. Functions take tables and return frozen results with intervals; `unmask.utility` tells them in a result.

comparison                a statistic of the real table beside that of the release, with an interval and its sampling noise
marginals                 total variation of one-, two- and three-way tables
moments                   mean, median, variance and quantiles of numbers
dependence                correlations, normalised mutual information, the similarity score of ganev2023
propensity                can rows be told from real ones? pMSE against its null, detection AUC
features, learners        tables as matrices; classifiers and regressors
prediction                train on synthetic, test on real (stadler2022, hittmeir2020)
subgroups                 does the minority pay?
utility_game              does the presence of one person help to predict others who are like them? (stadler2022)
"""
