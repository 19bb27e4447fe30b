import unmask


def test_public_names_are_pinned():
    """What users import changes on purpose only; at most 30 names."""
    assert sorted(unmask.__all__) == [
        "Claim", "Column", "Finding", "Kind", "Neighbours", "Result", "Schema", "Severity", "Table", "UnmaskError",
        "attack", "audit", "audit_epsilon", "datasets", "describe", "errors", "everyone", "generators",
        "load", "read_schema", "read_table", "write", "write_csv", "write_schema",
    ]  # fmt: skip


def test_every_public_name_resolves():
    for name in unmask.__all__:
        assert getattr(unmask, name) is not None
    assert dir(unmask) == sorted(unmask.__all__)
