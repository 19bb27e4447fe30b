"""The MIDST challenge: membership in the training data of diffusion models for tables."""
