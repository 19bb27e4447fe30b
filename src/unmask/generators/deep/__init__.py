"""Generators that are neural networks, one file per generator. They need torch: the extra `deep`.

Files without an underscore hold parameters and fitted models and can be imported without torch, so that lists and help
texts never load it. Files with an underscore other than `_torch` hold networks and training, and are imported when a generator
is fitted or sampled.
"""
