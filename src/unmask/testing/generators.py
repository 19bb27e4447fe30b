"""The contract of generators."""

from __future__ import annotations

import pickle
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from unmask.errors import GeneratorError, MissingExtraError, ParameterError
from unmask.generators import Claim, Measurement
from unmask.tables.schema import Column, Origin, Schema
from unmask.tables.table import Table
from unmask.testing._contract import Checked, ContractError, Refused, equal, global_state, require
from unmask.testing._tables import ASKED, CASES, STYLES, plain


def check_generator(generator: Any, table: Table | None = None) -> Checked:
    """Fit and sample little tables (and yours, if given), and raise ContractError at the first broken promise."""
    check_parameters(generator)
    refused: list[Refused] = []
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
    require(is_dataclass(generator) and kind.__dataclass_params__.frozen, f"{kind.__name__} is not a frozen dataclass")
    require(isinstance(getattr(generator, "name", None), str), f"{kind.__name__}.name is not a text")
    require(isinstance(getattr(generator, "row_level", None), bool), f"{kind.__name__}.row_level is not true or false")
    require(hasattr(generator, "claim"), f"{kind.__name__} has no claim; None means that it promises nothing")
    _check_claim(generator.claim, f"{kind.__name__}.claim")
    try:
        hash(generator)
        copy = pickle.loads(pickle.dumps(generator))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(
            f"{kind.__name__} cannot be hashed and pickled, so no worker can have it: {problem}"
        ) from None
    require(
        copy == generator and hash(copy) == hash(generator), f"{kind.__name__} is not equal to itself after pickling"
    )


def check_randomness(generator: Any, table: Table) -> None:
    """The same seeds give the same table, other seeds another one, and no global random state is used."""
    before = global_state()
    first, again = _drawn(generator, table, 1, 2), _drawn(generator, table, 1, 2)
    require(before == global_state(), f"{generator!r} uses the global random state; draw from the rng that is passed")
    require(equal(first, again), f"{generator!r} gives different tables for the same seeds")
    model = generator.fit(table, np.random.default_rng(1))
    draws = [model.sample(ASKED, np.random.default_rng(2)) for _ in range(2)]
    require(
        equal(*draws), f"{generator!r}: sampling changes the model: the same seed gives another table the second time"
    )
    require(equal(draws[0], first), f"{generator!r}: the model fitted by the same seed gives another table")
    if generator.row_level or getattr(generator, "deterministic", False):
        return
    other = _drawn(generator, table, 1, 3)
    require(not equal(first, other), f"{generator!r} gives the same table for different seeds: is a seed fixed inside?")


def check_table(generator: Any, table: Table, case: str) -> None:
    """Fit one table, sample it, and look at everything that comes out."""
    where = f"{generator!r} on {case}"
    digest, copy = table.digest(), pickle.dumps(generator)
    model = generator.fit(table, np.random.default_rng(1))
    sampled = model.sample(ASKED, np.random.default_rng(2))
    require(table.digest() == digest, f"{where}: fit changes the table that it is given")
    require(pickle.loads(copy) == generator, f"{where}: fit changes the parameters; keep fitted state in the model")
    _check_sampled(sampled, table, generator.row_level, where)
    _check_claim(model.claim, f"{where}: claim of the model")
    require(
        (model.claim is None) == (generator.claim is None),
        f"{where}: model and generator disagree whether there is a claim",
    )
    if model.claim is not None and table.schema.origin is Origin.INFERRED:
        require(
            model.claim.void, f"{where}: the schema was inferred from the data, so the claim must say that it is void"
        )
    if hasattr(model, "log_likelihood"):
        for name, rows in (("the training table", table), ("its own sample", sampled)):
            _check_likelihood(model.log_likelihood(rows), len(rows), f"{where}: log_likelihood of {name}")
        possible = np.isfinite(model.log_likelihood(sampled)).all()
        require(possible, f"{where}: log_likelihood calls rows impossible that the model has drawn")
    if hasattr(model, "discriminator_score"):
        _check_likelihood(model.discriminator_score(sampled), ASKED, f"{where}: discriminator_score of its own sample")
    if hasattr(model, "evidence"):
        found = model.evidence(table.take([0]), table)
        finite = all(isinstance(name, str) and np.isfinite(value) for name, value in found.items())
        require(finite, f"{where}: evidence must be named finite numbers")
    for measurement in getattr(model, "measurements", ()):
        _check_measurement(measurement, table.schema, f"{where}: measurement")


def _refusal(generator: Any, case: str, table: Table, refused: list[Refused]) -> bool:
    """Check one table; True, and one more refusal, if the generator says that it cannot handle it."""
    try:
        check_table(generator, table, case)
    except (ContractError, MissingExtraError):
        raise
    except (ParameterError, GeneratorError) as problem:
        require(str(problem).strip(), f"{generator!r} refuses {case} without saying why")
        refused.append(Refused(case, str(problem)))
        return True
    except Exception as problem:
        raise ContractError(
            f"{generator!r} on {case}: {type(problem).__name__}: {problem}\n"
            "If it cannot handle such a table, raise a ParameterError that says why."
        ) from problem
    return False


def _check_sampled(sampled: Any, table: Table, row_level: bool, where: str) -> None:
    require(isinstance(sampled, Table), f"{where}: sample returns {type(sampled).__name__}, not a Table")
    require(sampled.schema == table.schema, f"{where}: the sampled table has another schema")
    require(sampled.persons is None, f"{where}: the sampled table names persons")
    if row_level:
        require(
            len(sampled) <= len(table),
            f"{where}: {len(sampled)} rows came out, more than the {len(table)} that went in",
        )
    else:
        require(len(sampled) == ASKED, f"{where}: {ASKED} rows were asked for, {len(sampled)} came")
    numbers = iter(sampled.numbers.T)
    for column, codes in zip(table.schema.columns, sampled.codes.T, strict=True):
        inside = (codes < column.size) | ((codes > column.size) & (codes < column.code_count) & row_level)
        require(inside.all(), f"{where}: column '{column.name}' has codes outside its domain of {column.size}")
        if column.is_numeric:
            _check_numbers(next(numbers), codes, column, f"{where}: column '{column.name}'")


def _check_numbers(numbers: np.ndarray, codes: np.ndarray, column: Column, where: str) -> None:
    missing = np.isnan(numbers)
    is_missing_code = (codes == column.missing_code) & bool(column.missing)
    require(
        np.array_equal(missing, is_missing_code),
        f"{where}: a number is NaN where its code is not missing, or the reverse",
    )
    present = numbers[~missing]
    within = (present >= column.lower) & (present <= column.upper)
    require(within.all(), f"{where}: numbers outside {column.lower:g} to {column.upper:g}")
    require(np.array_equal(column.bin_of(present), codes[~missing]), f"{where}: codes are not the bins of the numbers")
    if column.is_integral:
        require(np.array_equal(present, np.floor(present)), f"{where}: numbers that must be whole are not")


def _check_claim(claim: Any, where: str) -> None:
    require(claim is None or isinstance(claim, Claim), f"{where} is neither None nor a Claim")


def _check_likelihood(values: Any, rows: int, where: str) -> None:
    shape = getattr(values, "shape", None)
    require(shape == (rows,), f"{where}: shape {shape}; it must be one number per row, ({rows},)")
    require(
        not np.isnan(values).any() and not np.isposinf(values).any(), f"{where}: NaN or +inf; use -inf for impossible"
    )


def _check_measurement(measured: Any, schema: Schema, where: str) -> None:
    require(isinstance(measured, Measurement), f"{where} is a {type(measured).__name__}, not a Measurement")
    columns, shape = measured.columns, measured.counts.shape
    known = all(0 <= position < len(schema.columns) for position in columns)
    require(known and len(set(columns)) == len(columns), f"{where}: columns {columns} are not different positions")
    fits = len(shape) == len(columns) and all(
        0 < axis <= schema.columns[position].size for axis, position in zip(shape, columns, strict=True)
    )
    require(fits, f"{where}: counts of shape {shape} do not fit the domains of columns {columns}")
    require(np.isfinite(measured.counts).all(), f"{where}: counts are not finite")
    require(measured.scale >= 0, f"{where}: scale {measured.scale} is negative")
    require(
        (measured.noise == "none") == (measured.scale == 0),
        f"{where}: noise '{measured.noise}', scale {measured.scale}",
    )


def _drawn(generator: Any, table: Table, fit_seed: int, sample_seed: int) -> Table:
    return generator.fit(table, np.random.default_rng(fit_seed)).sample(ASKED, np.random.default_rng(sample_seed))
