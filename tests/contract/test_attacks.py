"""Every built-in attack keeps the contract, and `check_attack` sees each way of breaking it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from unmask import attacks
from unmask.attacks import Prediction, Secret
from unmask.errors import MissingExtraError, ParameterError
from unmask.tables.table import Table
from unmask.testing import CASES, SPOILT, ContractError, check_attack, plain
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool
from unmask.threats.view import View

# Parameters to check in place of the defaults. One shadow attack learns by forests, which take their time; what the others
# add is their features.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "histogram": [{"classifier": "logistic"}, {"classifier": "knn", "bins": 7}],
    "correlation": [{"classifier": "knn"}],
    "groundhog": [{"classifier": "logistic"}],
    "queries": [{"classifier": "knn"}, {"classifier": "logistic", "order": 1}],
    "synthetic-predictor": [{}, *({"model": model} for model in ("tree", "logistic", "knn", "boosting"))],
    "record-linkage": [{}, {"model": "tree"}, {"model": "linear", "unique": True}],
    "link-then-classify": [{"classifier": "knn"}, {"by": "histogram", "classifier": "logistic"}],
}
CHECKS = [(name, settings) for name in attacks.names() for settings in SETTINGS.get(name, [{}])]

# What a built-in may refuse, by a part of the name of the case; everything else must work.
REFUSES: dict[str, str] = {
    "linear": "secret 'sex",  # numbers only
    "closest-record": "one column, secret",  # no other column to compare
    "closest-votes": "one column, secret",
    "local-neighbourhood": "one column, secret",
    "trained-distance": "secret 'age",  # categories only
}


@pytest.mark.parametrize(("name", "settings"), CHECKS, ids=[f"{name}-{settings}" for name, settings in CHECKS])
def test_built_in_keeps_the_contract(name, settings):
    try:
        checked = check_attack(attacks.get(name, **settings))
    except MissingExtraError as problem:
        pytest.skip(f"{name}: {problem}")
    allowed = REFUSES.get(name)
    unexpected = [refusal for refusal in checked.refused if allowed is None or allowed not in refusal.case]
    assert not unexpected, checked


@dataclass(frozen=True)
class Fine:
    """An attack without fault: the twin of every broken one below."""

    name: ClassVar[str] = "fine"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    weight: float = 1.0

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Fine:
        return self

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        if secret is None:
            return self.weight * rng.random(len(targets))
        if secret.levels:
            return rng.random((len(targets), secret.levels))
        return Prediction(rng.random(len(targets)), np.ones(len(targets)))


@dataclass(frozen=True)
class Sum:
    """Features without fault: the counts of the first column's codes."""

    name: ClassVar[str] = "sum"
    key: ClassVar[str] = "sum"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        return np.bincount(synthetic.codes[:, 0], minlength=synthetic.schema.columns[0].code_count).astype(float)


@dataclass(frozen=True)
class FineShadow:
    """A shadow attack without fault."""

    name: ClassVar[str] = "fine-shadow"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.SHADOWS})
    features: ClassVar[tuple[Any, ...]] = (Sum(),)

    weight: float = 1.0

    def fit(self, pool: Pool, rng: np.random.Generator) -> Learnt:
        return Learnt(pool.levels, float(pool.members.mean()), int(rng.integers(100)))


@dataclass(frozen=True)
class Learnt:
    levels: int
    level: float
    seed: int

    def score(self, pool: Pool) -> np.ndarray:
        shape = (len(pool), len(pool.targets), *((self.levels,) if self.levels else ()))
        return self.level + np.random.default_rng(self.seed).random(shape)


def test_an_attack_without_fault_passes():
    for attack in (Fine(), FineShadow()):
        checked = check_attack(attack, plain("numbers only"))
        assert checked.refused == ()
        for case in ("plain releases", "your table", *CASES, *SPOILT):
            assert any(name.startswith(case) for name in checked.cases), case
        assert {"plain releases, membership", "plain releases, secret 'sex'", "plain releases, secret 'age'"} <= set(
            checked.cases
        )
        assert "keeps the contract on" in str(checked)


def broken(kind: type = Fine, **members: Any) -> Any:
    """An attack with other members."""
    made = dataclass(frozen=True)(type("Broken", (kind,), {"__module__": __name__, **members}))
    globals()["Broken"] = made  # so that it pickles
    return made()


def scored(change: Any) -> Any:
    """An attack whose scores are changed, with what was given to it."""

    def score(self: Fine, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Any:
        return change(Fine.score(self, view, targets, secret, rng), view, targets, secret)

    return broken(score=score)


def numbers_only(change: Any) -> Any:
    return scored(lambda found, view, targets, secret: change(found) if isinstance(found, Prediction) else found)


def spoil(found, view, targets, secret):
    view.synthetic.codes[:1] = 0
    return found


def spoil_targets(found, view, targets, secret):
    targets.codes[:, 0] = 0
    return found


def use_global_state(found, view, targets, secret):
    np.random.rand()  # noqa: NPY002
    return found


def crash_without_rows(found, view, targets, secret):
    return found if len(view.synthetic) else {}[1]


def read_the_secret(found, view, targets, secret):
    return found if secret is None or not secret.levels else found + targets.codes[:, secret.position][:, None]


def refuse(message: str) -> Any:
    def score(*arguments: Any) -> Any:
        raise ParameterError(message)

    return score


def learn(self: Fine, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Fine:
    object.__setattr__(self, "weight", self.weight + 1)
    return self


def prepare_reading(self: Fine, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Fine:
    view.synthetic  # noqa: B018
    return self


def prepare_nothing(self: Fine, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> None:
    return None


@dataclass(frozen=True)
class Unpicklable(Fine):
    note: Any = field(default=None, compare=False, repr=False)

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Fine:
        return replace(self, note=lambda: None)


@dataclass(frozen=True)
class Forgetful(Fine):
    """What it prepares is lost on the way to a worker."""

    state: Any = field(default=0.0, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"weight": self.weight, "state": 0.0}

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Fine:
        return replace(self, state=1.0)

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Any:
        return self.state if secret is not None else np.full(len(targets), self.state)


UNSEEDED = np.random.default_rng()

BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (lambda: broken(name=3), "name is not a text"),
    "no goals": (lambda: broken(goals=frozenset()), "goals is not a frozenset of Goal"),
    "needs as texts": (lambda: broken(needs=frozenset({"reference"})), "needs is not a frozenset of Access"),
    "neither kind": (lambda: broken(score=None, prepare=None, needs=None), "needs is not"),
    "shadows unused": (
        lambda: broken(needs=frozenset({Access.SYNTHETIC, Access.SHADOWS})),
        "what it does with shadows disagree",
    ),
    "reaches for the reference": (
        lambda: scored(lambda found, view, targets, secret: (view.reference, found)[1]),
        "asks for more than it lists",
    ),
    "reaches for the release in prepare": (lambda: broken(prepare=prepare_reading), "asks for more than it lists"),
    "prepares nothing": (lambda: broken(prepare=prepare_nothing), "`prepare` returns None, which has no `score`"),
    "unseeded": (
        lambda: broken(
            score=lambda self, view, targets, secret, rng: Fine.score(self, view, targets, secret, UNSEEDED)
        ),
        "other scores for the same seed",
    ),
    "global state": (lambda: scored(use_global_state), "global random state"),
    "one score for all": (
        lambda: scored(lambda found, view, targets, secret: found[:1] if secret is None else found),
        r"shape \(1,\); it must be \(3,\)",
    ),
    "one score per target for a category": (
        lambda: scored(lambda found, view, targets, secret: found[:, 0] if secret and secret.levels else found),
        r"shape \(3,\); it must be \(3, 2\)",
    ),
    "an array for a number": (lambda: numbers_only(lambda found: found.mean), "ndarray for a number, not a Prediction"),
    "no scale": (
        lambda: numbers_only(lambda found: Prediction(found.mean, found.scale * 0)),
        "scale that is not above 0",
    ),
    "one scale": (lambda: numbers_only(lambda found: Prediction(found.mean, 1.0)), "shape None"),
    "NaN": (
        lambda: scored(lambda found, view, targets, secret: found * np.nan if secret is None else found),
        "not finite",
    ),
    "infinite": (
        lambda: scored(lambda found, view, targets, secret: found - np.inf if secret is None else found),
        "not finite",
    ),
    "changes the release": (lambda: scored(spoil), "changes a table"),
    "changes the targets": (lambda: scored(spoil_targets), "changes a table"),
    "changes itself": (lambda: broken(prepare=learn), "changes its parameters"),
    "reads the secret": (lambda: scored(read_the_secret), "depend on what stands in the target's own secret column"),
    "crashes on a release without rows": (lambda: scored(crash_without_rows), "on releases without rows.*: KeyError"),
    "refuses everything": (lambda: broken(score=refuse("not today")), "refuses everything(.|\n)*not today"),
    "refuses in silence": (lambda: broken(score=refuse(" ")), "without saying why"),
    "prepares what does not pickle": (lambda: Unpicklable(), "cannot be pickled for a worker"),
    "forgets on the way": (lambda: Forgetful(), "a pickled copy scores differently"),
}


def features_of(compute: Any, **members: Any) -> Any:
    """A shadow attack whose features are computed in another way."""
    kind = dataclass(frozen=True)(type("BrokenSum", (Sum,), {"__module__": __name__, "compute": compute, **members}))
    globals()["BrokenSum"] = kind
    return broken(FineShadow, features=(kind(),))


def learning(change: Any) -> Any:
    """A shadow attack whose scores are changed."""

    @dataclass(frozen=True)
    class BrokenLearnt(Learnt):
        def score(self, pool: Pool) -> np.ndarray:
            return change(Learnt.score(self, pool), pool)

    def fit(self: FineShadow, pool: Pool, rng: np.random.Generator) -> Learnt:
        found = FineShadow.fit(self, pool, rng)
        return BrokenLearnt(found.levels, found.level, found.seed)

    return broken(FineShadow, fit=fit)


def need_both_answers(self: FineShadow, pool: Pool, rng: np.random.Generator) -> Learnt:
    return FineShadow.fit(self, pool, rng) if (~pool.members).any() else {}[1]


def unseeded_fit(self: FineShadow, pool: Pool, rng: np.random.Generator) -> Learnt:
    return FineShadow.fit(self, pool, UNSEEDED)


BROKEN_SHADOWS: dict[str, tuple[Any, str]] = {
    "no shadows listed": (
        lambda: broken(FineShadow, needs=frozenset({Access.SYNTHETIC})),
        "what it does with shadows disagree",
    ),
    "features of the rows": (
        lambda: features_of(lambda self, synthetic, targets: synthetic.codes[:, :1].astype(float)),
        "one shape for all releases",
    ),
    "features that grow": (
        lambda: features_of(lambda self, synthetic, targets: np.unique(synthetic.codes[:, 2]).astype(float)),
        "one shape for all releases",
    ),
    "features NaN without rows": (
        lambda: features_of(
            lambda self, synthetic, targets: np.full(1, synthetic.codes.mean() if len(synthetic) else np.nan)
        ),
        "on releases without rows.*features 'sum' that are not finite",
    ),
    "features by chance": (
        lambda: features_of(lambda self, synthetic, targets: UNSEEDED.random(3)),
        "differ the second time",
    ),
    "no key": (lambda: features_of(Sum.compute, key=None), "without a text as its key"),
    "scores of one target": (lambda: learning(lambda found, pool: found[:, :1]), "it must be"),
    "scores NaN": (lambda: learning(lambda found, pool: found * np.nan), "not finite"),
    "peeks at the answers": (lambda: learning(lambda found, pool: found + pool.members[0, 0]), "asks for more"),
    "needs both answers": (lambda: broken(FineShadow, fit=need_both_answers), "KeyError"),
    "unseeded": (lambda: broken(FineShadow, fit=unseeded_fit), "other scores for the same seed"),
}


@pytest.mark.parametrize("fault", [*BROKEN, *BROKEN_SHADOWS])
def test_every_broken_promise_is_seen(fault):
    for make, message in (table[fault] for table in (BROKEN, BROKEN_SHADOWS) if fault in table):
        with pytest.raises(ContractError, match=message):
            check_attack(make())


@dataclass
class Loose:
    """Not frozen."""

    name: ClassVar[str] = "loose"


@dataclass(frozen=True)
class Nothing:
    """Says what it is after and does nothing about it."""

    name: ClassVar[str] = "nothing"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})


@dataclass(frozen=True)
class Unhashable(Fine):
    settings: list[int] = field(default_factory=list)


def test_parameters_must_be_frozen_and_hashable():
    with pytest.raises(ContractError, match="not a frozen dataclass"):
        check_attack(Loose())
    with pytest.raises(ContractError, match="has neither"):
        check_attack(Nothing())
    with pytest.raises(ContractError, match="cannot be hashed"):
        check_attack(Unhashable())


def test_refusals_are_reported_with_their_reason():
    checked = check_attack(attacks.get("linear"))
    assert all("secret 'sex" in refusal.case for refusal in checked.refused)
    assert "secrets that are numbers" in str(checked)


def test_an_attack_plays_its_own_goals_only():
    checked = check_attack(broken(goals=frozenset({Goal.MEMBERSHIP})))
    assert all(case.endswith("membership") for case in checked.cases)
