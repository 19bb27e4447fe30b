"""Contract tests for people who write their own generators.

    from unmask.testing import check_generator
    report = check_generator(MyGenerator(epsilon=1))   # raises ContractError, or says what it checked

A generator may refuse a table that it cannot handle, by a ParameterError or GeneratorError that says why. The report lists
the refusals. It must accept some table: all columns mixed, or numbers only, or two small categorical columns.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from unmask.attacks import Prediction, ReleaseAttack, Secret, ShadowAttack
from unmask.errors import GeneratorError, MissingExtraError, NotAllowedError, ParameterError
from unmask.generators import Claim, Measurement
from unmask.generators.independent import Independent
from unmask.simulation.draw import masked_targets, secret_of
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table, concatenate
from unmask.threats.game import Game
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool
from unmask.threats.view import FittedModel, View

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


# Attacks. The same little tables, each split into reference people and real ones, three of whom are targets; the release
# comes from a generator with a likelihood and measurements, and is then spoilt in every way that a release can be.

TARGETS = 3
RELEASES = 12  # of the attacker's own, for attacks that learn


@dataclass(frozen=True, eq=False)
class Scene:
    """A release, what an attacker may hold beside it, and the targets; `secret` is what they are after, if not membership."""

    case: str
    releases: tuple[Table, ...]  # the first is under attack, all are shadow releases
    reference: Table
    generator: Independent
    model: FittedModel
    targets: Table  # with the secret masked
    truth: Table
    secret: Secret | None


def check_attack(attack: Any, table: Table | None = None) -> Checked:
    """Let an attack score little releases (and one of your table, if given), and raise ContractError at the first broken promise.

    An attack may refuse a goal, a kind of secret or a table by a ParameterError that says why; the report lists refusals.
    """
    check_attack_parameters(attack)
    cases: list[str] = []
    refused: list[Refusal] = []
    for scene in _scenes(attack.goals, table):
        try:
            thorough = scene.case.startswith("plain releases") or scene.case.startswith("your table")
            (_check_shadows if isinstance(attack, ShadowAttack) else _check_release)(attack, scene, thorough=thorough)
        except (ContractError, MissingExtraError):
            raise
        except ParameterError as problem:
            _require(str(problem).strip(), f"{attack!r} refuses {scene.case} without saying why")
            refused.append(Refusal(scene.case, str(problem)))
        except NotAllowedError as problem:
            raise ContractError(f"{attack!r} on {scene.case} asks for more than it lists: {problem}") from problem
        except Exception as problem:
            raise ContractError(
                f"{attack!r} on {scene.case}: {type(problem).__name__}: {problem}\n"
                "If it cannot handle such a release, raise a ParameterError that says why."
            ) from problem
        else:
            cases.append(scene.case)
    if not cases:
        raise ContractError(f"{attack!r} refuses everything, so it cannot be checked.\n{refused[0].reason}")
    return Checked(repr(attack), tuple(cases), tuple(refused))


def check_attack_parameters(attack: Any) -> None:
    """An attack is a frozen dataclass of plain parameters with a name, goals and needs, of one of the two kinds."""
    kind = type(attack)
    _require(is_dataclass(attack) and kind.__dataclass_params__.frozen, f"{kind.__name__} is not a frozen dataclass")
    _require(isinstance(getattr(attack, "name", None), str), f"{kind.__name__}.name is not a text")
    for name, members in (("goals", Goal), ("needs", Access)):
        found = getattr(attack, name, None)
        _require(
            isinstance(found, frozenset) and found and all(isinstance(member, members) for member in found),
            f"{kind.__name__}.{name} is not a frozenset of {members.__name__}",
        )
    _require(
        isinstance(attack, ReleaseAttack) != isinstance(attack, ShadowAttack),
        f"{kind.__name__} has neither `prepare` and `score` nor `features` and `fit`, or both",
    )
    learns = isinstance(attack, ShadowAttack)
    _require(
        learns == (Access.SHADOWS in attack.needs), f"{kind.__name__}.needs and what it does with shadows disagree"
    )
    try:
        hash(attack)
        copy = pickle.loads(pickle.dumps(attack))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(
            f"{kind.__name__} cannot be hashed and pickled, so no worker can have it: {problem}"
        ) from None
    _require(copy == attack and hash(copy) == hash(attack), f"{kind.__name__} is not equal to itself after pickling")


def _check_release(attack: Any, scene: Scene, *, thorough: bool) -> None:
    """Score one release, and look at everything that comes out; `thorough`: again, from a copy, and with another mask."""
    where = f"{attack!r} on {scene.case}"
    given = (scene.releases[0], scene.reference, scene.targets)
    digests, copy = [table.digest() for table in given], pickle.dumps(attack)
    prepared, view = _prepared(attack, scene), _view(scene, attack.needs)
    scores = prepared.score(view, scene.targets, scene.secret, np.random.default_rng(2))
    _require([table.digest() for table in given] == digests, f"{where}: changes a table that it is given")
    _require(pickle.loads(copy) == attack, f"{where}: changes its parameters; return what was prepared instead")
    found = _check_scores(scores, scene, where)
    if not thorough:
        return
    state = _global_state()  # from the second time on: libraries that are imported on first use may draw from it
    again = _prepared(attack, scene).score(view, scene.targets, scene.secret, np.random.default_rng(2))
    _require(np.array_equal(found, _check_scores(again, scene, where)), f"{where}: other scores for the same seed")
    _require(state == _global_state(), f"{where}: uses the global random state; draw from the rng that is passed")
    try:
        sent = pickle.loads(pickle.dumps(prepared))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(f"{where}: what `prepare` returns cannot be pickled for a worker: {problem}") from None
    elsewhere = sent.score(view, scene.targets, scene.secret, np.random.default_rng(2))
    _require(
        np.array_equal(found, _check_scores(elsewhere, scene, where)), f"{where}: a pickled copy scores differently"
    )
    if scene.secret is not None:
        unmasked = replace(scene, targets=replace(scene.truth, persons=None))
        seen = _prepared(attack, unmasked).score(view, unmasked.targets, scene.secret, np.random.default_rng(2))
        _require(
            np.array_equal(found, _check_scores(seen, scene, where)),
            f"{where}: the scores depend on what stands in the target's own secret column, which is masked in a game",
        )


def _prepared(attack: Any, scene: Scene) -> Any:
    before = _view(scene, attack.needs - {Access.SYNTHETIC, Access.MODEL})
    return attack.prepare(before, scene.targets, scene.secret, np.random.default_rng(1))


def _view(scene: Scene, allowed: frozenset[Access]) -> View:
    return View(
        allowed,
        synthetic=scene.releases[0],
        reference=scene.reference,
        generator=scene.generator,
        model=scene.model,
    )


def _check_scores(scores: Any, scene: Scene, where: str) -> np.ndarray:
    """The scores of one release as one array."""
    targets = len(scene.targets)
    if scene.secret is None:
        return _check_array(scores, (targets,), where)
    if scene.secret.levels:
        return _check_array(scores, (targets, scene.secret.levels), where)
    _require(isinstance(scores, Prediction), f"{where}: {type(scores).__name__} for a number, not a Prediction")
    mean, scale = (_check_array(part, (targets,), where) for part in (scores.mean, scores.scale))
    _require((scale > 0).all(), f"{where}: a scale that is not above 0")
    return np.stack([mean, scale])


def _check_array(scores: Any, shape: tuple[int, ...], where: str) -> np.ndarray:
    found = getattr(scores, "shape", None)
    _require(found == shape, f"{where}: scores of shape {found}; it must be {shape}")
    _require(np.isfinite(scores).all(), f"{where}: scores that are not finite")
    return np.asarray(scores)


def _check_shadows(attack: Any, scene: Scene, *, thorough: bool) -> None:
    """Compute features of all releases, learn from them, and score them; about one target only unless `thorough`."""
    if not thorough:
        scene = replace(scene, targets=scene.targets.take([0]), truth=scene.truth.take([0]))
    where = f"{attack!r} on {scene.case}"
    given = (*scene.releases, scene.targets)
    digests, copy = [table.digest() for table in given], pickle.dumps(attack)
    pool = _pool(attack, scene, where)
    levels = () if scene.secret is None or scene.secret.levels == 0 else (scene.secret.levels,)
    shape = (RELEASES, len(scene.targets), *levels)
    found = _check_array(attack.fit(pool, np.random.default_rng(1)).score(pool.blind()), shape, where)
    _require([table.digest() for table in given] == digests, f"{where}: changes a table that it is given")
    _require(
        pickle.loads(copy) == attack, f"{where}: changes its parameters; keep what is learnt in what `fit` returns"
    )
    if not thorough:
        return
    state = _global_state()
    again = attack.fit(pool, np.random.default_rng(1)).score(pool.blind())
    _require(np.array_equal(found, again), f"{where}: other scores for the same seed")
    _require(state == _global_state(), f"{where}: uses the global random state; draw from the rng that is passed")
    everyone = np.ones_like(pool.members)
    for variant, changed in (
        ("isolated targets", replace(pool, target_of=np.arange(RELEASES) % len(scene.targets))),
        ("the same answer in every release", replace(pool, answers=(everyone, pool.secrets * 0))),
    ):
        fitted = attack.fit(changed, np.random.default_rng(1))
        _check_array(fitted.score(changed.blind()), shape, f"{where} ({variant})")


def _pool(attack: Any, scene: Scene, where: str) -> Pool:
    arrays = {}
    for feature in attack.features:
        _require(isinstance(getattr(feature, "key", None), str), f"{where}: a feature set without a text as its key")
        rows = [np.asarray(feature.compute(release, scene.targets)) for release in scene.releases]
        shapes = {row.shape for row in rows}
        per_target = (len(scene.targets),) if rows[0].ndim == 2 else ()
        _require(
            len(shapes) == 1 and rows[0].shape[:-1] == per_target,
            f"{where}: features '{feature.key}' of shapes {shapes}; one shape for all releases: F, or targets x F",
        )
        _require(np.isfinite(rows).all(), f"{where}: features '{feature.key}' that are not finite")
        again = feature.compute(scene.releases[0], scene.targets)
        _require(np.array_equal(rows[0], again), f"{where}: features '{feature.key}' differ the second time")
        arrays[feature.key] = np.array(rows, dtype=np.float64)
    rng = np.random.default_rng(5)
    members = rng.random((RELEASES, len(scene.targets))) < 0.5
    members[0], members[1:3] = False, True
    secrets = np.zeros(members.shape)
    if scene.secret is not None:
        column = scene.targets.schema.columns[scene.secret.position]
        codes = rng.integers(0, column.listed, members.shape)
        secrets = rng.uniform(column.lower, column.upper, members.shape) if column.is_numeric else codes.astype(float)
    return Pool(scene.targets, arrays, answers=(members, secrets), levels=scene.secret.levels if scene.secret else 0)


def _scenes(goals: frozenset[Goal], table: Table | None) -> Iterator[Scene]:
    """Every release in every game that the attack plays."""
    first = next(iter(STYLES))
    tables = {"plain releases": plain(first)} | {case: build(first) for case, build in CASES.items()}
    numbers, categories = list(STYLES)[1:]
    tables |= {numbers: plain(numbers), categories: plain(categories)}
    if table is not None:
        tables["your table"] = table
    for case, whole in tables.items():
        for game in _games(goals, whole):
            yield _scene(case, whole, game)
    for case, spoil in SPOILT.items():
        for game in _games(goals, tables["plain releases"]):
            scene = _scene(case, tables["plain releases"], game)
            yield replace(scene, releases=tuple(spoil(release, scene.truth) for release in scene.releases))


def _games(goals: frozenset[Goal], table: Table) -> list[Game]:
    games = [Game()] if Goal.MEMBERSHIP in goals else []
    if Goal.ATTRIBUTE in goals:
        usable = [c for c in table.schema.columns if (c.lower < c.upper if c.is_numeric else len(c.values) > 1)]
        kinds = {column.is_numeric: column.name for column in reversed(usable)}  # the first of each kind
        games += [Game(goal=Goal.ATTRIBUTE, secret=name) for _, name in sorted(kinds.items())]
    return games


def _scene(case: str, table: Table, game: Game) -> Scene:
    half = len(table) // 2
    reference, real = (table.take(np.arange(half)), table.take(np.arange(half, len(table)))) if half else (table, table)
    truth = real.take(np.arange(min(TARGETS, len(real))))
    model = Independent().fit(real, np.random.default_rng(3))
    releases = tuple(model.sample(ASKED, np.random.default_rng(seed)) for seed in range(RELEASES))
    what = "membership" if game.secret is None else f"secret '{game.secret}'"
    return Scene(
        f"{case}, {what}",
        releases,
        replace(reference, persons=None),
        Independent(),
        FittedModel(model.log_likelihood, model.measurements),
        masked_targets(truth, game),
        truth,
        secret_of(truth, game),
    )


def _unlisted(release: Table, truth: Table) -> Table:
    """A third of the rows with values outside the schema in every column."""
    codes, numbers = release.codes.copy(order="F"), release.numbers.copy(order="F")
    codes[::3] = release.schema.sizes
    numbers[::3] = [release.schema.columns[position].upper * 2 + 10 for position in release.schema.numeric]
    return replace(release, codes=codes, numbers=numbers)


def _grouped(release: Table, truth: Table) -> Table:
    """Groups in place of the values that have one, as a sanitiser publishes them."""
    codes = release.codes.copy(order="F")
    for position, column in enumerate(release.schema.columns):
        for group, (_, members) in enumerate(column.groups):
            inside = [code for code, value in enumerate(column.values) if value in members]
            codes[np.isin(codes[:, position], inside), position] = column.size + 1 + group
    return replace(release, codes=codes)


SPOILT: dict[str, Callable[[Table, Table], Table]] = {
    "releases without rows": lambda release, truth: release.take([]),
    "releases of one row": lambda release, truth: release.take([0]),
    "releases of equal rows": lambda release, truth: release.take([0] * ASKED),
    "releases that hold the targets": lambda release, truth: concatenate([release, replace(truth, persons=None)]),
    "releases with values outside the schema": _unlisted,
    "releases with groups of values": _grouped,
}
