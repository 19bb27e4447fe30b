"""Any generator, with ranges and categories that are read off each training table instead of the public schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import Generator, Model, check_fits
from unmask.generators.claim import Claim
from unmask.tables.schema import Column, Origin, Schema
from unmask.tables.table import Table


@dataclass(frozen=True)
class LearntDomain:
    """What DataSynthesizer and others do for convenience, and what voids differential privacy (Stadler et al. 2022, 5).

    A category that only the target has, or a range that only the target stretches, comes and goes with the target, however
    much noise there is. The claim stays the one that users believe, so that it can be held against what is found. Releases
    are under the public schema. The fitted model is under a schema of its own, so a white-box attacker sees the release only.
    """

    name: ClassVar[str] = "learnt-domain"
    row_level: ClassVar[bool] = False

    generator: Generator

    def __post_init__(self) -> None:
        if self.generator.row_level:
            raise ParameterError(
                f"'{self.generator.name}' publishes rows of the table itself, so it has no domain to learn. "
                "Leave out --domain learnt."
            )

    @property
    def claim(self) -> Claim | None:
        return self.generator.claim

    def fit(self, table: Table, rng: np.random.Generator | None) -> LearntDomainModel:
        check_fits(table, self.name)
        learnt = learnt_schema(table)
        return LearntDomainModel(table.schema, self.generator.fit(recoded(table, learnt), rng), self.claim)


@dataclass(frozen=True, eq=False)
class LearntDomainModel:
    """A model under a schema of its own, whose rows are published under the public one."""

    public: Schema
    model: Model
    claim: Claim | None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        return recoded(self.model.sample(rows, rng), self.public)


def learnt_schema(table: Table) -> Schema:
    """The schema as the data has it: values that occur, ranges from the smallest to the largest, as many equal bins."""
    numbers = dict(zip(table.schema.numeric, table.numbers.T, strict=True))
    columns = []
    for position, column in enumerate(table.schema.columns):
        codes = table.codes[:, position]
        missing = column.missing if column.missing and (codes == column.missing_code).any() else ()
        if column.is_numeric:
            columns.append(_ranged(column, numbers[position], missing))
        else:
            occur = np.unique(codes[codes < column.listed])
            values = tuple(column.values[code] for code in occur) or column.values[:1]
            columns.append(replace(column, values=values, groups=(), missing=missing))
    return replace(table.schema, columns=tuple(columns), origin=Origin.INFERRED)


def _ranged(column: Column, numbers: np.ndarray, missing: tuple[str, ...]) -> Column:
    known = numbers[~np.isnan(numbers)]
    lower, upper = (known.min(), known.max()) if known.size else (column.lower, column.lower)
    return replace(column, lower=lower, upper=upper, bins=column.listed, cuts=(), missing=missing)


def recoded(table: Table, schema: Schema) -> Table:
    """The same rows under a schema with other ranges and values; values that it does not list are unlisted there."""
    codes = np.empty(table.codes.shape, dtype=schema.code_type, order="F")
    numbers = dict(zip(table.schema.numeric, table.numbers.T, strict=True))
    for position, (old, new) in enumerate(zip(table.schema.columns, schema.columns, strict=True)):
        if new.is_numeric:
            found = numbers[position]
            codes[:, position] = np.where(np.isnan(found), new.missing_code, new.bin_of(found))
            continue
        places = {value: code for code, value in enumerate(new.values)}
        code_of = np.full(old.code_count, new.unlisted_code)
        code_of[: old.listed] = [places.get(value, new.unlisted_code) for value in old.values]
        if old.missing:
            code_of[old.missing_code] = new.missing_code
        codes[:, position] = code_of[table.codes[:, position]]
    return replace(table, schema=schema, codes=codes)
