"""Houssiau et al. 2022, TAPAS: a toolbox for adversarial privacy auditing of synthetic data."""
