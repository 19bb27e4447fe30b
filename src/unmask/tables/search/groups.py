"""Rows grouped by their categories, for searches elsewhere that pass over whole groups: what `_grouped` makes."""

from __future__ import annotations

from unmask.tables.search._grouped import FEWEST_QUERIES, GroupedRows, forget, grouped_rows

__all__ = ["FEWEST_QUERIES", "GroupedRows", "forget", "grouped_rows"]
