"""Ganev and De Cristofaro 2023, reconstruction from similarity metrics (ReconSyn)."""
