"""Every built-in keeps the contract, and `check_generator` sees each way of breaking it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from unmask import generators
from unmask.errors import MissingExtraError, ParameterError
from unmask.generators import Claim, Measurement
from unmask.generators._generator import claim_for
from unmask.generators._numbers import table_from_codes
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.testing import CASES, STYLES, ContractError, check_generator, plain

# Parameters to check beside the defaults; names that need parameters have no default to check.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "independent": [{}, {"epsilon": 1.0}],
    "bayesnet": [{}, {"degree": 2}],
    "privbayes": [{}, {"degree": 2}, {"epsilon": np.inf}],
    "mst": [{}, {"epsilon": 1000.0}, {"epsilon": np.inf}],
    "histogram": [{}, {"epsilon": np.inf}],
    "copycat": [{"p": 0.5}],
    "cart": [{}, {"smooth": True}],
    "copula": [{}, {"margins": "parametric"}],
    "mixture": [{}, {"components": 2}],
    "dpgan": [
        {"steps": 3, "batch": 16, "hidden": 4, "width": 8},
        {"epsilon": np.inf, "steps": 2, "hidden": 4, "width": 8},
    ],
    "pategan": [
        {"teachers": 5, "steps": 3, "batch": 4, "width": 8, "noise": 1.0},
        {"epsilon": np.inf, "rows_each": 5, "steps": 2, "batch": 4, "width": 8},
    ],
    "sanitiser": [{}, {"k": 1, "rare": 1, "dates": "year"}],
    # Small and hardly trained: what they must promise does not depend on it.
    "ctgan": [{"steps": 2, "batch": 20, "generator_layers": 8, "discriminator_layers": 8}],
    "tvae": [{"steps": 2, "encoder_layers": 8, "decoder_layers": 8}],
    "tabddpm": [{"steps": 2, "diffusion_steps": 5, "layers": 8}],
}
CHECKS = [(name, settings) for name in generators.names() for settings in SETTINGS.get(name, [{}])]

# What a built-in may refuse; everything else must work.
REFUSES: dict[str, set[str]] = {
    "histogram": {"sixty columns"},  # too many cells
    "sanitiser": {"one row"},  # fewer rows than `rare`
    "mixture": {"a table (all kinds of columns)"},  # numbers only
    "pategan": {"one row"},  # too few for ten teachers, unless their number is given
}


@pytest.mark.parametrize(("name", "settings"), CHECKS, ids=[f"{name}-{settings}" for name, settings in CHECKS])
def test_built_in_keeps_the_contract(name, settings):
    try:
        checked = check_generator(generators.get(name, **settings))
    except MissingExtraError as problem:
        pytest.skip(f"{name}: {problem}")
    assert {refusal.case for refusal in checked.refused} <= REFUSES.get(name, set()), checked


@dataclass(frozen=True)
class Fine:
    """A generator without fault: the twin of every broken one below."""

    name: ClassVar[str] = "fine"
    row_level: ClassVar[bool] = False

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim | None:
        return Claim(self.epsilon)

    def fit(self, table: Table, rng: np.random.Generator | None) -> FineModel:
        counts = np.bincount(table.codes[:, 0], minlength=table.schema.columns[0].size).astype(float)
        return FineModel(table.schema, claim_for(self.claim, table.schema), (Measurement((0,), counts, 0.0, "none"),))


@dataclass(frozen=True, eq=False)
class FineModel:
    schema: Schema
    claim: Claim | None
    measurements: tuple[Measurement, ...] = ()

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        codes = rng.integers(0, self.schema.sizes, size=(rows, len(self.schema.columns)))
        return table_from_codes(self.schema, codes, rng)

    def log_likelihood(self, table: Table) -> np.ndarray:
        return np.full(len(table), -np.log(self.schema.sizes).sum())


def test_a_generator_without_fault_passes():
    checked = check_generator(Fine(), plain("numbers only"))
    assert checked.cases == (f"a table ({next(iter(STYLES))})", *CASES, "your table")
    assert checked.refused == ()
    assert "keeps the contract on" in str(checked)


def broken(model: type = FineModel, **members: Any) -> Any:
    """An instance of Fine with other members; its models are of another class."""

    def fit(self: Fine, table: Table, rng: np.random.Generator | None) -> Any:
        fitted = Fine.fit(self, table, rng)
        return model(fitted.schema, fitted.claim, fitted.measurements)

    kind = dataclass(frozen=True)(type("Broken", (Fine,), {"fit": fit, "__module__": __name__, **members}))
    globals()["Broken"] = kind  # so that it pickles
    return kind()


def changed(**members: Any) -> type:
    return dataclass(frozen=True, eq=False)(type("BrokenModel", (FineModel,), {"__module__": __name__, **members}))


def sample_of(change: Any) -> type:
    return changed(sample=lambda self, rows, rng: change(FineModel.sample(self, rows, rng)))


def likelihood_of(change: Any) -> type:
    return changed(log_likelihood=lambda self, table: change(FineModel.log_likelihood(self, table)))


def measured(measurement: Any = None, **changes: Any) -> Any:
    """A fit that publishes one measurement of the first column, changed."""

    def fit(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
        fitted = Fine.fit(self, table, rng)
        return replace(fitted, measurements=(measurement or replace(fitted.measurements[0], **changes),))

    return fit


def numbers_of(table: Table, change: Any) -> Table:
    return replace(table, numbers=np.asfortranarray(change(table.numbers)))


def codes_of(table: Table, change: Any) -> Table:
    return replace(table, codes=np.asfortranarray(change(table.codes), dtype=table.codes.dtype))


def spoil(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
    table.codes[0, 0] = (table.codes[0, 0] + 1) % table.schema.sizes[0]
    return Fine.fit(self, table, rng)


def learn(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
    object.__setattr__(self, "epsilon", self.epsilon / 2)
    return Fine.fit(self, table, rng)


def crash(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
    return Fine.fit(self, table, rng) if len(table) > 1 else {}[1]


def refuse(message: str) -> Any:
    def fit(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
        raise ParameterError(message)

    return fit


def forget(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
    return FineModel(table.schema, None)


def never_void(self: Fine, table: Table, rng: np.random.Generator | None) -> FineModel:
    return FineModel(table.schema, self.claim)


def use_global_state(table: Table) -> Table:
    np.random.rand()  # noqa: NPY002
    return table


UNSEEDED = np.random.default_rng()


BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (lambda: broken(name=3), "name is not a text"),
    "no row_level": (lambda: broken(row_level=None), "row_level is not true or false"),
    "claim of another type": (lambda: broken(claim="epsilon 1"), "neither None nor a Claim"),
    "fixed seed": (
        lambda: broken(changed(sample=lambda self, rows, rng: FineModel.sample(self, rows, np.random.default_rng(0)))),
        "same table for different seeds",
    ),
    "unseeded": (
        lambda: broken(changed(sample=lambda self, rows, rng: FineModel.sample(self, rows, UNSEEDED))),
        "different tables for the same seeds",
    ),
    "global state": (lambda: broken(sample_of(use_global_state)), "global random state"),
    "too few rows": (
        lambda: broken(sample_of(lambda table: table.take(np.arange(5)))),
        "37 rows were asked for, 5 came",
    ),
    "too many rows": (
        lambda: broken(changed(sample=lambda self, rows, rng: FineModel.sample(self, 61, rng)), row_level=True),
        "61 rows came out, more than the 60 that went in",
    ),
    "another schema": (
        lambda: broken(sample_of(lambda table: replace(table, schema=replace(table.schema, identifiers=("id",))))),
        "another schema",
    ),
    "a frame": (lambda: broken(sample_of(lambda table: table.to_pandas())), "returns DataFrame, not a Table"),
    "persons": (
        lambda: broken(sample_of(lambda table: replace(table, persons=np.array(["p"] * len(table), dtype=object)))),
        "names persons",
    ),
    "codes outside": (
        lambda: broken(sample_of(lambda table: codes_of(table, lambda codes: codes + table.schema.sizes))),
        "codes outside its domain",
    ),
    "groups from a generator that is not row-level": (
        lambda: broken(
            sample_of(lambda table: codes_of(table, lambda codes: np.where(np.arange(codes.shape[1]) == 1, 4, codes)))
        ),
        "codes outside its domain of 3",
    ),
    "numbers outside": (
        lambda: broken(sample_of(lambda table: numbers_of(table, lambda numbers: numbers + 1e6))),
        "numbers outside",
    ),
    "numbers of other bins": (
        lambda: broken(sample_of(lambda table: numbers_of(table, lambda numbers: numbers[::-1]))),
        "codes are not the bins",
    ),
    "NaN": (lambda: broken(sample_of(lambda table: numbers_of(table, lambda numbers: numbers * np.nan))), "NaN where"),
    "fractions": (
        lambda: broken(sample_of(lambda table: numbers_of(table, lambda numbers: numbers + (numbers % 10 == 5) / 4))),
        "must be whole",
    ),
    "changes its table": (lambda: broken(fit=spoil), "fit changes the table"),
    "changes itself": (lambda: broken(fit=learn), "fit changes the parameters"),
    "crashes on one row": (lambda: broken(fit=crash), "on one row: KeyError"),
    "refuses everything": (lambda: broken(fit=refuse("not today")), "refuses every table(.|\n)*not today"),
    "refuses in silence": (lambda: broken(fit=refuse(" ")), "without saying why"),
    "forgets its claim": (lambda: broken(fit=forget), "disagree whether there is a claim"),
    "claim on an inferred schema": (lambda: broken(fit=never_void), "must say that it is void"),
    "likelihood of the whole table": (lambda: broken(likelihood_of(np.sum)), "one number per row"),
    "likelihood NaN": (lambda: broken(likelihood_of(lambda values: values * np.nan)), "NaN or"),
    "likelihood infinite": (lambda: broken(likelihood_of(lambda values: values + np.inf)), "NaN or"),
    "impossible own rows": (lambda: broken(likelihood_of(lambda values: values - np.inf)), "calls rows impossible"),
    "measurement of another type": (
        lambda: broken(fit=measured(3)),
        "not a Measurement",
    ),
    "measurement of unknown columns": (lambda: broken(fit=measured(columns=(99,))), "not different positions"),
    "measurement of another shape": (lambda: broken(fit=measured(counts=np.zeros((2, 2)))), "do not fit the domains"),
    "measurement too large": (lambda: broken(fit=measured(counts=np.zeros(3))), "do not fit the domains"),
    "measurement NaN": (lambda: broken(fit=measured(counts=np.full(2, np.nan))), "not finite"),
    "measurement scale": (lambda: broken(fit=measured(scale=-1.0, noise="laplace")), "negative"),
    "measurement noise": (lambda: broken(fit=measured(noise="laplace")), "noise 'laplace', scale 0"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_every_broken_promise_is_seen(fault):
    make, message = BROKEN[fault]
    with pytest.raises(ContractError, match=message):
        check_generator(make())


@dataclass
class Loose:
    """Not frozen."""

    name: ClassVar[str] = "loose"


@dataclass(frozen=True)
class Unhashable(Fine):
    settings: list[int] = field(default_factory=list)


def test_parameters_must_be_frozen_and_hashable():
    with pytest.raises(ContractError, match="not a frozen dataclass"):
        check_generator(Loose())
    with pytest.raises(ContractError, match="cannot be hashed"):
        check_generator(Unhashable())
    with pytest.raises(ContractError, match="cannot be hashed and pickled"):
        check_generator(local())


def local() -> Any:
    @dataclass(frozen=True)
    class Local(Fine):
        """Cannot be pickled, since no module has it."""

    return Local()


def test_a_refused_table_of_the_user_is_an_error():
    frame = pd.DataFrame({"sex": ["f", "m"] * 3})
    with pytest.raises(ContractError, match="refuses your table: sanitiser: k is 10"):
        check_generator(generators.get("sanitiser"), Table.from_pandas(frame))


def test_refusals_are_reported_with_their_reason():
    checked = check_generator(generators.get("sanitiser"))
    assert [refusal.case for refusal in checked.refused] == ["one row"]
    assert "rare is 10" in str(checked)
