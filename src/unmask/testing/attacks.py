"""The contract of attacks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np

from unmask.attacks import Prediction, PreparedAttack, ReleaseAttack, Secret, ShadowAttack
from unmask.errors import MissingExtraError, NotAllowedError, ParameterError
from unmask.generators.independent import Independent
from unmask.simulation.target import masked_targets, secret_of
from unmask.tables.table import Table, concatenate
from unmask.testing._contract import Checked, ContractError, Refused, global_state, require
from unmask.testing._tables import ASKED, CASES, STYLES, plain
from unmask.threats.game import Game
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool
from unmask.threats.view import FittedModel, View

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
    refused: list[Refused] = []
    for scene in _scenes(attack.goals, table):
        try:
            thorough = scene.case.startswith("plain releases") or scene.case.startswith("your table")
            (_check_shadows if isinstance(attack, ShadowAttack) else _check_release)(attack, scene, thorough=thorough)
        except (ContractError, MissingExtraError):
            raise
        except ParameterError as problem:
            require(str(problem).strip(), f"{attack!r} refuses {scene.case} without saying why")
            refused.append(Refused(scene.case, str(problem)))
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
    require(is_dataclass(attack) and kind.__dataclass_params__.frozen, f"{kind.__name__} is not a frozen dataclass")
    require(isinstance(getattr(attack, "name", None), str), f"{kind.__name__}.name is not a text")
    for name, members in (("goals", Goal), ("needs", Access)):
        found = getattr(attack, name, None)
        require(
            isinstance(found, frozenset) and found and all(isinstance(member, members) for member in found),
            f"{kind.__name__}.{name} is not a frozenset of {members.__name__}",
        )
    require(
        isinstance(attack, ReleaseAttack) != isinstance(attack, ShadowAttack),
        f"{kind.__name__} has neither `prepare` nor `features` and `fit`, or both",
    )
    learns = isinstance(attack, ShadowAttack)
    require(learns == (Access.SHADOWS in attack.needs), f"{kind.__name__}.needs and what it does with shadows disagree")
    try:
        hash(attack)
        copy = pickle.loads(pickle.dumps(attack))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(
            f"{kind.__name__} cannot be hashed and pickled, so no worker can have it: {problem}"
        ) from None
    require(copy == attack and hash(copy) == hash(attack), f"{kind.__name__} is not equal to itself after pickling")


def _check_release(attack: Any, scene: Scene, *, thorough: bool) -> None:
    """Score one release, and look at everything that comes out; `thorough`: again, from a copy, and with another mask."""
    where = f"{attack!r} on {scene.case}"
    given = (scene.releases[0], scene.reference, scene.targets)
    digests, copy = [table.digest() for table in given], pickle.dumps(attack)
    prepared, view = _prepared(attack, scene), _view(scene, attack.needs)
    require(isinstance(prepared, PreparedAttack), f"{where}: `prepare` returns {prepared!r}, which has no `score`")
    scores = prepared.score(view, scene.targets, scene.secret, np.random.default_rng(2))
    require([table.digest() for table in given] == digests, f"{where}: changes a table that it is given")
    require(pickle.loads(copy) == attack, f"{where}: changes its parameters; return what was prepared instead")
    found = _check_scores(scores, scene, where)
    if not thorough:
        return
    state = global_state()  # from the second time on: libraries that are imported on first use may draw from it
    again = _prepared(attack, scene).score(view, scene.targets, scene.secret, np.random.default_rng(2))
    require(np.array_equal(found, _check_scores(again, scene, where)), f"{where}: other scores for the same seed")
    require(state == global_state(), f"{where}: uses the global random state; draw from the rng that is passed")
    try:
        sent = pickle.loads(pickle.dumps(prepared))
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        raise ContractError(f"{where}: what `prepare` returns cannot be pickled for a worker: {problem}") from None
    elsewhere = sent.score(view, scene.targets, scene.secret, np.random.default_rng(2))
    require(
        np.array_equal(found, _check_scores(elsewhere, scene, where)), f"{where}: a pickled copy scores differently"
    )
    if scene.secret is not None:
        unmasked = replace(scene, targets=replace(scene.truth, persons=None))
        seen = _prepared(attack, unmasked).score(view, unmasked.targets, scene.secret, np.random.default_rng(2))
        require(
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
    require(isinstance(scores, Prediction), f"{where}: {type(scores).__name__} for a number, not a Prediction")
    mean, scale = (_check_array(part, (targets,), where) for part in (scores.mean, scores.scale))
    require((scale > 0).all(), f"{where}: a scale that is not above 0")
    return np.stack([mean, scale])


def _check_array(scores: Any, shape: tuple[int, ...], where: str) -> np.ndarray:
    found = getattr(scores, "shape", None)
    require(found == shape, f"{where}: scores of shape {found}; it must be {shape}")
    require(np.isfinite(scores).all(), f"{where}: scores that are not finite")
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
    require([table.digest() for table in given] == digests, f"{where}: changes a table that it is given")
    require(pickle.loads(copy) == attack, f"{where}: changes its parameters; keep what is learnt in what `fit` returns")
    if not thorough:
        return
    state = global_state()
    again = attack.fit(pool, np.random.default_rng(1)).score(pool.blind())
    require(np.array_equal(found, again), f"{where}: other scores for the same seed")
    require(state == global_state(), f"{where}: uses the global random state; draw from the rng that is passed")
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
        require(isinstance(getattr(feature, "key", None), str), f"{where}: a feature set without a text as its key")
        rows = [np.asarray(feature.compute(release, scene.targets)) for release in scene.releases]
        shapes = {row.shape for row in rows}
        per_target = (len(scene.targets),) if rows[0].ndim == 2 else ()
        require(
            len(shapes) == 1 and rows[0].shape[:-1] == per_target,
            f"{where}: features '{feature.key}' of shapes {shapes}; one shape for all releases: F, or targets x F",
        )
        require(np.isfinite(rows).all(), f"{where}: features '{feature.key}' that are not finite")
        again = feature.compute(scene.releases[0], scene.targets)
        require(np.array_equal(rows[0], again), f"{where}: features '{feature.key}' differ the second time")
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
        _shown(model),
        masked_targets(truth, game),
        truth,
        secret_of(truth, game),
    )


def _shown(model: Any) -> FittedModel:
    """A model that offers all that some kind of model does: its likelihood stands in for what others are asked."""

    def real(rows: Table) -> np.ndarray:
        return np.asarray(np.maximum(model.log_likelihood(rows), -1000.0))

    def losses(rows: Table, steps: Sequence[int], rng: np.random.Generator) -> np.ndarray:
        return np.asarray(np.abs(rng.normal(size=(len(rows), len(steps)))) - real(rows)[:, None])

    return FittedModel(model.log_likelihood, model.measurements, losses, 100, real)


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
