"""Reconstruction of records: from the answers of a provider's metrics (oracle_*), or from a release (release*)."""
