"""Contract tests for people who write their own generators.

    from unmask.testing import check_generator
    report = check_generator(MyGenerator(epsilon=1))   # raises ContractError, or says what it checked

A generator may refuse a table that it cannot handle, by a ParameterError or GeneratorError that says why. The report lists
the refusals. It must accept some table: all columns mixed, or numbers only, or two small categorical columns.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from unmask.errors import GeneratorError, MissingExtraError, ParameterError
from unmask.generators import Claim, Measurement
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table

ROWS = 60  # of the little tables
ASKED = 37  # rows asked for; not the number of training rows


class ContractError(AssertionError):
    """A generator does not keep the contract of DESIGN: the message says which part, on which table."""


@dataclass(frozen=True)
class Refusal:
    """A table that the generator says it cannot handle, and its reason."""

    case: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """What was checked without fault, and what the generator refused."""

    generator: str
    cases: tuple[str, ...]
    refused: tuple[Refusal, ...]

    def __str__(self) -> str:
        lines = [f"{self.generator}: keeps the contract on {', '.join(self.cases)}."]
        return "\n".join(lines + [f"  refuses {refusal.case}: {refusal.reason}" for refusal in self.refused])


def check_generator(generator: Any, table: Table | None = None) -> Checked:
    """Fit and sample little tables (and yours, if given), and raise ContractError at the first broken promise."""
    check_parameters(generator)
    refused: list[Refusal] = []
    style = next(
        (style for style in STYLES if not _refusal(generator, f"a table ({style})", plain(style), refused)), None
    )
    if style is None:
        reasons = "\n".join(f"  {refusal.case}: {refusal.reason}" for refusal in refused)
        raise ContractError(f"{generator!r} refuses every table, so it cannot be checked.\n{reasons}")
    check_randomness(generator, plain(style))
    cases = [f"a table ({style})"]
    for case, build in CASES.items():
        if not _refusal(generator, case, build(style), refused):
            cases.append(case)
    if table is not None:
        if _refusal(generator, "your table", table, refused):
            raise ContractError(f"{generator!r} refuses your table: {refused[-1].reason}")
        cases.append("your table")
    return Checked(repr(generator), tuple(cases), tuple(refused))


def check_parameters(generator: Any) -> None:
    """A generator is a frozen dataclass of plain parameters with a name, whether it is row-level, and a claim."""
    kind = type(generator)
    _require(is_dataclass(generator) and kind.__dataclass_params__.frozen, f"{kind.__name__} is not a frozen dataclass")
    _require(isinstance(getattr(generator, "name", None), str), f"{kind.__name__}.name is not a text")
    _require(isinstance(getattr(generator, "row_level", None), bool), f"{kind.__name__}.row_level is not true or false")
    _require(hasattr(generator, "claim"), f"{kind.__name__} has no claim; None means that it promises nothing")
    _check_claim(generator.claim, f"{kind.__name__}.claim")
    try:
        hash(generator)
        copy = pickle.loads(pickle.dumps(generator))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(
            f"{kind.__name__} cannot be hashed and pickled, so no worker can have it: {problem}"
        ) from None
    _require(
        copy == generator and hash(copy) == hash(generator), f"{kind.__name__} is not equal to itself after pickling"
    )


def check_randomness(generator: Any, table: Table) -> None:
    """The same seeds give the same table, other seeds another one, and no global random state is used."""
    before = _global_state()
    first, again = _drawn(generator, table, 1, 2), _drawn(generator, table, 1, 2)
    _require(before == _global_state(), f"{generator!r} uses the global random state; draw from the rng that is passed")
    _require(_equal(first, again), f"{generator!r} gives different tables for the same seeds")
    model = generator.fit(table, np.random.default_rng(1))
    draws = [model.sample(ASKED, np.random.default_rng(2)) for _ in range(2)]
    _require(
        _equal(*draws), f"{generator!r}: sampling changes the model: the same seed gives another table the second time"
    )
    _require(_equal(draws[0], first), f"{generator!r}: the model fitted by the same seed gives another table")
    if generator.row_level or getattr(generator, "deterministic", False):
        return
    other = _drawn(generator, table, 1, 3)
    _require(
        not _equal(first, other), f"{generator!r} gives the same table for different seeds: is a seed fixed inside?"
    )


def check_table(generator: Any, table: Table, case: str) -> None:
    """Fit one table, sample it, and look at everything that comes out."""
    where = f"{generator!r} on {case}"
    digest, copy = table.digest(), pickle.dumps(generator)
    model = generator.fit(table, np.random.default_rng(1))
    sampled = model.sample(ASKED, np.random.default_rng(2))
    _require(table.digest() == digest, f"{where}: fit changes the table that it is given")
    _require(pickle.loads(copy) == generator, f"{where}: fit changes the parameters; keep fitted state in the model")
    _check_sampled(sampled, table, generator.row_level, where)
    _check_claim(model.claim, f"{where}: claim of the model")
    _require(
        (model.claim is None) == (generator.claim is None),
        f"{where}: model and generator disagree whether there is a claim",
    )
    if model.claim is not None and table.schema.origin is Origin.INFERRED:
        _require(
            model.claim.void, f"{where}: the schema was inferred from the data, so the claim must say that it is void"
        )
    if hasattr(model, "log_likelihood"):
        for name, rows in (("the training table", table), ("its own sample", sampled)):
            _check_likelihood(model.log_likelihood(rows), len(rows), f"{where}: log_likelihood of {name}")
        possible = np.isfinite(model.log_likelihood(sampled)).all()
        _require(possible, f"{where}: log_likelihood calls rows impossible that the model has drawn")
    for measurement in getattr(model, "measurements", ()):
        _check_measurement(measurement, table.schema, f"{where}: measurement")


def _refusal(generator: Any, case: str, table: Table, refused: list[Refusal]) -> bool:
    """Check one table; True, and one more refusal, if the generator says that it cannot handle it."""
    try:
        check_table(generator, table, case)
    except (ContractError, MissingExtraError):
        raise
    except (ParameterError, GeneratorError) as problem:
        _require(str(problem).strip(), f"{generator!r} refuses {case} without saying why")
        refused.append(Refusal(case, str(problem)))
        return True
    except Exception as problem:
        raise ContractError(
            f"{generator!r} on {case}: {type(problem).__name__}: {problem}\n"
            "If it cannot handle such a table, raise a ParameterError that says why."
        ) from problem
    return False


def _check_sampled(sampled: Any, table: Table, row_level: bool, where: str) -> None:
    _require(isinstance(sampled, Table), f"{where}: sample returns {type(sampled).__name__}, not a Table")
    _require(sampled.schema == table.schema, f"{where}: the sampled table has another schema")
    _require(sampled.persons is None, f"{where}: the sampled table names persons")
    if row_level:
        _require(
            len(sampled) <= len(table),
            f"{where}: {len(sampled)} rows came out, more than the {len(table)} that went in",
        )
    else:
        _require(len(sampled) == ASKED, f"{where}: {ASKED} rows were asked for, {len(sampled)} came")
    numbers = iter(sampled.numbers.T)
    for column, codes in zip(table.schema.columns, sampled.codes.T, strict=True):
        inside = (codes < column.size) | ((codes > column.size) & (codes < column.code_count) & row_level)
        _require(inside.all(), f"{where}: column '{column.name}' has codes outside its domain of {column.size}")
        if column.is_numeric:
            _check_numbers(next(numbers), codes, column, f"{where}: column '{column.name}'")


def _check_numbers(numbers: np.ndarray, codes: np.ndarray, column: Column, where: str) -> None:
    missing = np.isnan(numbers)
    is_missing_code = (codes == column.missing_code) & bool(column.missing)
    _require(
        np.array_equal(missing, is_missing_code),
        f"{where}: a number is NaN where its code is not missing, or the reverse",
    )
    present = numbers[~missing]
    within = (present >= column.lower) & (present <= column.upper)
    _require(within.all(), f"{where}: numbers outside {column.lower:g} to {column.upper:g}")
    _require(np.array_equal(column.bin_of(present), codes[~missing]), f"{where}: codes are not the bins of the numbers")
    if column.is_integral:
        _require(np.array_equal(present, np.floor(present)), f"{where}: numbers that must be whole are not")


def _check_claim(claim: Any, where: str) -> None:
    _require(claim is None or isinstance(claim, Claim), f"{where} is neither None nor a Claim")


def _check_likelihood(values: Any, rows: int, where: str) -> None:
    shape = getattr(values, "shape", None)
    _require(shape == (rows,), f"{where}: shape {shape}; it must be one number per row, ({rows},)")
    _require(
        not np.isnan(values).any() and not np.isposinf(values).any(), f"{where}: NaN or +inf; use -inf for impossible"
    )


def _check_measurement(measured: Any, schema: Schema, where: str) -> None:
    _require(isinstance(measured, Measurement), f"{where} is a {type(measured).__name__}, not a Measurement")
    columns, shape = measured.columns, measured.counts.shape
    known = all(0 <= position < len(schema.columns) for position in columns)
    _require(known and len(set(columns)) == len(columns), f"{where}: columns {columns} are not different positions")
    fits = len(shape) == len(columns) and all(
        0 < axis <= schema.columns[position].size for axis, position in zip(shape, columns, strict=True)
    )
    _require(fits, f"{where}: counts of shape {shape} do not fit the domains of columns {columns}")
    _require(np.isfinite(measured.counts).all(), f"{where}: counts are not finite")
    _require(measured.scale >= 0, f"{where}: scale {measured.scale} is negative")
    _require(
        (measured.noise == "none") == (measured.scale == 0),
        f"{where}: noise '{measured.noise}', scale {measured.scale}",
    )


def _global_state() -> object:
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return random.getstate(), state["state"]["pos"], state["state"]["key"].tobytes()


def _drawn(generator: Any, table: Table, fit_seed: int, sample_seed: int) -> Table:
    return generator.fit(table, np.random.default_rng(fit_seed)).sample(ASKED, np.random.default_rng(sample_seed))


def _equal(first: Table, second: Table) -> bool:
    return np.array_equal(first.codes, second.codes) and np.array_equal(first.numbers, second.numbers, equal_nan=True)


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise ContractError(f"{otherwise}.")


# The little tables. Domains are wider than the data, as public domains are.

STYLES: dict[str, tuple[str, ...]] = {
    "all kinds of columns": ("sex", "region", "age", "score", "day"),
    "numbers only": ("age", "score", "day"),
    "two small categorical columns": ("sex", "region"),
}
COLUMNS = {
    "sex": Column("sex", Kind.CATEGORICAL, values=("f", "m")),
    "region": Column("region", Kind.CATEGORICAL, values=("N", "S", "E"), groups=(("far", ("S", "E")),)),
    "age": Column("age", Kind.INTEGER, lower=0.0, upper=99.0, bins=10),
    "score": Column("score", Kind.CONTINUOUS, lower=-1.0, upper=1.0, bins=4),
    "day": Column("day", Kind.DATETIME, lower=14_610.0, upper=14_974.0, bins=6, resolution="D", format="%Y-%m-%d"),
}


def _values(column: Column, rows: int, rng: np.random.Generator) -> pd.Series:
    if column.kind is Kind.CATEGORICAL:
        return pd.Series(rng.choice(np.array(column.values, dtype=object), rows))
    if column.kind is Kind.INTEGER:
        return pd.Series(rng.integers(18, 80, rows))
    if column.kind is Kind.CONTINUOUS:
        return pd.Series(np.tanh(rng.normal(size=rows)))
    return pd.Series(np.datetime64("2010-01-01") + rng.integers(0, 365, rows))


def _table(
    columns: list[Column], rows: int = ROWS, change: Callable[[pd.DataFrame], object] | None = None, **uses: Any
) -> Table:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column.name: _values(column, rows, rng) for column in columns})
    if change is not None:
        change(frame)
    return Table.from_pandas(frame, Schema(tuple(columns), **uses))


def _of(style: str) -> list[Column]:
    return [COLUMNS[name] for name in STYLES[style]]


def plain(style: str) -> Table:
    """Sixty rows of the columns of a style."""
    return _table(_of(style))


def _constant(style: str) -> Table:
    def same(frame: pd.DataFrame) -> None:
        for name in frame.columns:
            frame[name] = frame[name].iloc[0]

    rng = np.random.default_rng(0)
    only = (
        Column("only", Kind.CATEGORICAL, values=("x",)) if "sex" in STYLES[style] else Column("only", Kind.CONTINUOUS)
    )
    table = _table(_of(style), change=same)
    frame = table.to_pandas().assign(only=_values(only, ROWS, rng) if only.values else 0.0)
    return Table.from_pandas(frame, Schema((*table.schema.columns, only)))


def _missing(style: str) -> Table:
    """A fifth of every column is missing, and all of the last."""

    def lose(frame: pd.DataFrame) -> None:
        rng = np.random.default_rng(1)
        for place, name in enumerate(frame.columns):
            lost = rng.random(len(frame)) < (1 if place == len(frame.columns) - 1 else 0.2)
            frame[name] = frame[name].astype(object).where(~lost, None)

    return _table([replace(column, missing=("",)) for column in _of(style)], change=lose)


def _unseen(style: str) -> Table:
    """The schema lists values, and ranges, that no row has."""
    wider = [
        replace(column, values=(*column.values, "never", "nor this"))
        if column.values
        else replace(column, upper=column.upper + 50)
        for column in _of(style)
    ]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column.name: _values(column, ROWS, rng) for column in _of(style)})
    return Table.from_pandas(frame, Schema(tuple(wider)))


def _persons(style: str) -> Table:
    def name(frame: pd.DataFrame) -> None:
        frame["who"] = [f"p{row // 2}" for row in range(len(frame))]

    return _table(_of(style), change=name, person="who")


def _wide(style: str) -> Table:
    return _table([replace(column, name=f"{column.name}{copy}") for copy in range(60) for column in _of(style)][:60])


def _large(style: str) -> Table:
    """A column with so many values that codes need two bytes."""
    if "sex" in STYLES[style]:
        large = Column("large", Kind.CATEGORICAL, values=tuple(f"v{i}" for i in range(1000)))
    else:
        large = Column("large", Kind.INTEGER, lower=0.0, upper=9999.0, bins=1000)
    return _table([*_of(style), large])


CASES: dict[str, Callable[[str], Table]] = {
    "one column": lambda style: _table(_of(style)[:1]),
    "one row": lambda style: _table(_of(style), rows=1),
    "constant columns": _constant,
    "missing values": _missing,
    "values unseen in training": _unseen,
    "two rows per person": _persons,
    "a thousand values": _large,
    "sixty columns": _wide,
    "an inferred schema": lambda style: _table(_of(style), origin=Origin.INFERRED),
}
