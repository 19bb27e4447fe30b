"""Parts of results compared in every field: they hold arrays, so that `==` would not do."""

from dataclasses import fields

from unmask.audits.part import Part


def equal(one: Part, other: Part) -> bool:
    """Whether two parts say the same."""
    return _plain(one) == _plain(other)


def _plain(part: Part) -> dict:
    found = {field.name: getattr(part, field.name) for field in fields(Part)}
    return found | {"columns": [(name, list(cells)) for name, cells in part.columns]}
