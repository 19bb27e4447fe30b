"""The three attacks and their combination, learnt from the release alone.

Columns of some rows of the release are hidden, and the attacks complete them: matches without the row itself, trees that were
not grown on it, a network of the other rows. That teaches two things. *Weights*: in each column a log-linear pool of the three,
by the likelihood of what was hidden. *Trust*: whether the best row was right more often than the pool, among hidden rows whose
best row agrees at least as well. No hidden row may have a match as good as that of a person who stands in the release: then the
match is believed.

People who stand in the release find themselves there, hidden rows do not. If nobody did, the numbers of people who are equal to
0, 1 and 2 rows in all that is known would obey f1 <= sqrt(2 f0 f2) (mixed Poisson: Chao 1984). Where more are equal to one row,
people stand in the release, and as many of the hidden rows are left in place when weights and trust are learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unmask.metrics.completing.domains import Domains
from unmask.metrics.completing.matches import BestRows, best_rows
from unmask.metrics.completing.network import TreeNetwork
from unmask.metrics.completing.published import PublishedRows
from unmask.metrics.completing.trees import forests, predictors
from unmask.tables.table import Table, concatenate

MATCHES, TREES, NETWORK, COMBINED = "matches", "trees", "network", "combined"
MOST_HIDDEN_ROWS = 1_000  # rows of the release whose columns are hidden
MOST_NETWORK_ROWS = 100_000
PRIOR = 3.0  # strength of equal weights, in rows
CERTAIN = 1.0  # standard errors by which too many people are equal to one row: a guess, no finding
BELIEVED = 0.95  # how far a match is believed that no hidden row has


@dataclass(frozen=True, eq=False)
class Guess:
    """What one attack says: codes of the schema, -1 for no guess."""

    columns: np.ndarray  # people x hidden columns: the likeliest value of each
    whole: np.ndarray  # the same shape: the likeliest record, values that agree with one another


def guesses(
    people: Table, release: PublishedRows, known: list[str], hidden: list[str], rng: np.random.Generator
) -> Mapping[str, Guess]:
    """Complete the hidden columns of people, of whom the known ones alone are read, by every attack."""
    shuffled = release.shuffled(rng)  # ties must not depend on the order of the file
    untaught = _Lesson.of(shuffled.select([*known, *hidden]), len(known), rng)
    asked = people.select([*known, *hidden])
    best, of_hidden, of_rows_left = untaught.searched(asked)
    beliefs = untaught.beliefs(asked, best)
    return untaught.taught(best, of_hidden, of_rows_left).completed(beliefs)


def _evidence(domains: Domains, people: Table, known: int) -> list[np.ndarray]:
    """What a network is told of people: the first so many columns."""
    columns, sizes = domains.encode(people), domains.sizes
    told = [_one_hot(columns[place], sizes[place]) for place in range(known)]
    return told + [np.ones((len(people), size)) for size in sizes[known:]]


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """What the attacks believe about some people."""

    best: BestRows
    posteriors: Mapping[str, list[np.ndarray]]  # by attack: of each hidden column, people x values
    evidence: list[np.ndarray]  # what the network was told


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What the release teaches."""

    release: PublishedRows
    known: int  # the first so many columns
    domains: Domains
    network: TreeNetwork
    forests: list
    weights: np.ndarray  # hidden columns x attacks
    trust: list[tuple[np.ndarray, np.ndarray]]  # of each hidden column, then of whole records

    @classmethod
    def of(cls, release: PublishedRows, known: int, rng: np.random.Generator) -> _Lesson:
        """With equal weights and no trust."""
        domains = Domains.of(release)
        grown = forests(release, domains, known, rng)
        rows = np.arange(min(len(release), MOST_NETWORK_ROWS))
        network = TreeNetwork.learnt(domains.encode(release.take(rows)), domains.sizes)
        hidden = len(domains.sizes) - known
        return cls(release, known, domains, network, grown, np.full((hidden, 3), 1 / 3), [_NOTHING] * (hidden + 1))

    @property
    def hidden_rows(self) -> np.ndarray:
        """The rows whose columns are hidden: the first, since they are in random order."""
        return np.arange(min(MOST_HIDDEN_ROWS, len(self.release) // 2))

    def searched(self, people: Table) -> tuple[BestRows, BestRows, BestRows]:
        """The best rows of people, of hidden rows without themselves, and of hidden rows that are left in place.

        All at once, since a large release takes longer to read than to search.
        """
        rows, size = self.hidden_rows, len(people)
        taken = self.release.take(rows)
        sides = [Table(people.schema, each.codes, each.numbers) for each in (people, taken, taken)]
        own = np.concatenate([np.full(size, -1), rows, np.full(len(rows), -1)])
        everyone = concatenate(sides).select(self.release.names[: self.known])
        found = best_rows(everyone, self.release, own=own)
        cuts = slice(0, size), slice(size, size + len(rows)), slice(size + len(rows), None)
        return found.take(cuts[0]), found.take(cuts[1]), found.take(cuts[2])

    def taught(self, best: BestRows, of_hidden: BestRows, of_rows_left: BestRows) -> _Lesson:
        """What hidden rows teach an attacker of people who have these best rows."""
        rows = self.hidden_rows
        if not len(rows):
            return self
        others = np.arange(len(rows), min(len(rows) + MOST_NETWORK_ROWS, len(self.release)))
        learnt = TreeNetwork.learnt(self.domains.encode(self.release.take(others)), self.domains.sizes)
        apart = self._with_network(learnt)
        hidden = self.release.take(rows)
        beliefs = [apart.beliefs(hidden, of_hidden, own=rows)]
        inside = _inside(best, of_hidden)
        if inside > 0:
            beliefs.append(self.beliefs(hidden, of_rows_left))
        counts = np.repeat([1 - inside, inside][: len(beliefs)], len(rows))
        truth = np.tile(self.domains.encode(hidden)[self.known :], len(beliefs))
        both = [
            [np.concatenate([each.posteriors[name][place] for each in beliefs]) for name in (MATCHES, TREES, NETWORK)]
            for place in range(len(self.forests))
        ]
        weights = np.array([_pooled_weights(found, truth[place], counts) for place, found in enumerate(both)])
        gains = []
        for lesson, each in zip((apart, self), beliefs, strict=False):
            pooling, codes = lesson._with(weights, []), hidden.codes[:, self.known :]
            row, pool = pooling._best(each.best), pooling._pooled(each)
            gain = (row == codes) * 1.0 - (pooling._columns(pool) == codes)
            whole = (row == codes).all(axis=1) * 1.0 - (pooling._whole(each, pool)[0] == codes).all(axis=1)
            gains.append(np.column_stack([gain, whole]))
        matched = np.concatenate([each.best.share for each in beliefs])
        gained = np.concatenate(gains) * counts[:, None]
        return self._with(weights, [_learnt_trust(matched, each) for each in gained.T])

    def _with(self, weights: np.ndarray, trust: list[tuple[np.ndarray, np.ndarray]]) -> _Lesson:
        return _Lesson(self.release, self.known, self.domains, self.network, self.forests, weights, trust)

    def _with_network(self, network: TreeNetwork) -> _Lesson:
        return _Lesson(self.release, self.known, self.domains, network, self.forests, self.weights, self.trust)

    def beliefs(self, people: Table, best: BestRows, *, own: np.ndarray | None = None) -> _Beliefs:
        """Of people with their best rows, or of rows of the release (`own` are their places); hidden columns are not read."""
        known, names, sizes = self.known, self.release.names, self.domains.sizes
        seen = people.select(names[:known])
        distinct, place_of = np.unique(np.maximum(best.rows, 0), return_inverse=True)
        voting = self.domains.encode(self.release.take(distinct))
        place_of = place_of.reshape(best.rows.shape)
        values, _ = predictors(seen)
        evidence = _evidence(self.domains, people, known)
        by_network, _ = self.network.posteriors(evidence)
        posteriors = {
            MATCHES: [
                best.votes(voting[known + place][place_of], sizes[known + place], forest.lean)
                for place, forest in enumerate(self.forests)
            ],
            TREES: [forest.posterior(values, own) for forest in self.forests],
            NETWORK: by_network[known:],
        }
        return _Beliefs(best, posteriors, evidence)

    def completed(self, beliefs: _Beliefs) -> dict[str, Guess]:
        """The guesses of every attack."""
        best = beliefs.best
        likeliest = {name: self._columns(found) for name, found in beliefs.posteriors.items()}
        row, pool = self._best(best), self._pooled(beliefs)
        joint, _ = self.network.likeliest(beliefs.evidence)
        columns = self._columns(pool)
        for place, posterior in enumerate(pool):
            sure = posterior[:, :-1].max(axis=1, initial=0.0)
            believed = _trusted(self.trust[place], best.share, sure) & (row[:, place] >= 0)
            columns[believed, place] = row[believed, place]
        whole, sure = self._whole(beliefs, pool)
        believed = _trusted(self.trust[-1], best.share, sure)
        whole[believed] = row[believed]
        return {
            MATCHES: Guess(likeliest[MATCHES], row),
            TREES: Guess(likeliest[TREES], likeliest[TREES]),
            NETWORK: Guess(likeliest[NETWORK], self._codes(joint)),
            COMBINED: Guess(columns, whole),
        }

    def _best(self, best: BestRows) -> np.ndarray:
        """The hidden columns of the best row."""
        row = self.release.take(best.rows[:, 0]).codes[:, self.known :].astype(np.int64)
        unlisted = [column.unlisted_code for column in self.release.schema.columns[self.known :]]
        return np.where(row == unlisted, -1, row)

    def _pooled(self, beliefs: _Beliefs) -> list[np.ndarray]:
        return [
            _pool([beliefs.posteriors[name][place] for name in (MATCHES, TREES, NETWORK)], self.weights[place])
            for place in range(len(self.forests))
        ]

    def _whole(self, beliefs: _Beliefs, pool: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest record and how sure it is: the network's joint, tilted to the pooled columns."""
        tilted = list(beliefs.evidence)
        for place, posterior in enumerate(pool):
            ratio = posterior / np.maximum(beliefs.posteriors[NETWORK][place], 1e-12)
            ratio[:, -1] = 0.0  # values that cannot be guessed
            tilted[self.known + place] = ratio / np.maximum(ratio.max(axis=1, keepdims=True), 1e-300)
        joint, log_best = self.network.likeliest(tilted)
        _, log_total = self.network.posteriors(tilted)
        return self._codes(joint), np.exp(np.minimum(log_best - log_total, 0.0))

    def _columns(self, posteriors: list[np.ndarray]) -> np.ndarray:
        return np.stack([self.domains.guess(self.known + place, each) for place, each in enumerate(posteriors)], axis=1)

    def _codes(self, joint: np.ndarray) -> np.ndarray:
        places = range(self.known, len(joint))
        return np.stack([self.domains.codes(place, joint[place]) for place in places], axis=1)


_NOTHING = (np.empty(0), np.empty(0))


def _one_hot(numbers: np.ndarray, size: int) -> np.ndarray:
    """1 for the value that is known; a value that the release hardly has says nothing."""
    found = np.zeros((len(numbers), size))
    found[np.arange(len(numbers)), numbers] = 1.0
    found[numbers == size - 1] = 1.0
    return found


def _pool(posteriors: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Log-linear: the product of the posteriors, each to the power of its weight."""
    logs = sum(weight * np.log(np.maximum(each, 1e-9)) for weight, each in zip(weights, posteriors, strict=True))
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _inside(people: BestRows, hidden: BestRows) -> float:
    """How many of the people stand in the release, if some seem to: by how much better they are matched."""
    none, one, two = np.bincount(np.minimum(people.equal, 3), minlength=4)[:3].astype(float)
    if one <= np.sqrt(2 * none * (two + 1)) + CERTAIN * np.sqrt(one):
        return 0.0
    found, usual = people.share.mean(), hidden.share.mean()
    return float(np.clip((found - usual) / max(1 - usual, 1e-9), 0.0, 1.0))


def _pooled_weights(posteriors: list[np.ndarray], truth: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weights under which what was hidden is likeliest, drawn towards equal ones as `PRIOR` rows would."""
    from scipy.optimize import minimize  # slow to import

    logs = np.log(np.maximum(np.stack(posteriors), 1e-9))  # attacks x rows x values
    people, count = np.arange(len(truth)), len(posteriors)
    hit = logs[:, people, truth]
    even = np.full(count, 1 / count)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pooled = np.tensordot(weights, logs, 1)
        top = pooled.max(axis=1, keepdims=True)
        raised = np.exp(pooled - top)
        total = raised.sum(axis=1)
        mean = np.einsum("arv,rv->ar", logs, raised / total[:, None])
        value = counts @ (np.log(total) + top[:, 0] - weights @ hit) + PRIOR * ((weights - even) ** 2).sum()
        return value, (mean - hit) @ counts + 2 * PRIOR * (weights - even)

    found = minimize(loss, even, jac=True, method="L-BFGS-B", bounds=[(0.0, 2.0)] * count, options={"maxiter": 30})
    return np.asarray(found.x)


def _learnt_trust(share: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How well hidden rows are matched, best first; how much more often the first so many matches were right than the pool."""
    order = np.argsort(-share, kind="stable")
    return share[order], np.concatenate([[0.0], np.cumsum(gain[order])])


def _trusted(learnt: tuple[np.ndarray, np.ndarray], share: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """Whether the best row is believed, by the hidden rows that are matched at least as well, and by how sure the pool is."""
    shares, gain = learnt
    if not len(gain):
        return sure < BELIEVED
    return gain[np.searchsorted(-shares, -share, side="right")] + BELIEVED > sure
