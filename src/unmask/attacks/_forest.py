"""A random forest of classification trees, compiled: what shadow attacks learn with, many times per audit.

The forest of Breiman (2001) as scikit-learn grows it: each tree on a bootstrap sample, at each node the best Gini split among
the square root of the features, until leaves are pure; scores are mean class shares of the leaves. It is exact. It is fast since
features are replaced by their ranks once, for all trees and all targets that share them: a node counts its rows by rank instead
of sorting them, and a bit for each rank says which counts to look at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.compiled import inner, njit

TREES = 100

# All of one unsigned type, with arrays: an index that cannot be negative costs no check.
ONE, WORD, WITHIN, HALF, LOWER = np.array([1, 6, 63, 32, 0xFFFFFFFF], dtype=np.uint64)
SEQUENCE, TOP = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)  # de Bruijn: its 6-bit windows are all different
_places = {((1 << bit) * int(SEQUENCE) % 2**64) >> 58: bit for bit in range(64)}
PLACES = np.array([_places[window] for window in range(64)], dtype=np.uint64)  # of a single bit, by the product with it


@dataclass(frozen=True, eq=False)
class Ranked:
    """Features of releases, and the rank of each among the distinct values of its feature; both features x rows."""

    values: np.ndarray
    ranks: np.ndarray
    distinct: np.ndarray  # per feature

    @classmethod
    def of(cls, features: np.ndarray) -> Ranked:
        """Rank every column of rows x features."""
        values = np.ascontiguousarray(features.T, dtype=np.float32)
        count, rows = values.shape
        ranks = np.empty(
            (count, rows), dtype=np.min_scalar_type(max(rows - 1, 0))
        )  # thousands of features: cache counts
        keys = np.sort(_sortable(values), axis=1)
        return cls(values, ranks, _rank(keys, ranks))


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees side by side: node by node the feature and the threshold (leaves: -1), the children and the shares of classes.

    Speaks as scikit-learn's classifiers do.
    """

    classes_: np.ndarray
    features: np.ndarray  # trees x nodes
    thresholds: np.ndarray
    children: np.ndarray  # the left one; the right one follows it
    shares: np.ndarray  # trees x nodes x classes

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        """Rows x classes: mean shares over the trees."""
        rows = np.ascontiguousarray(features, dtype=np.float32)
        return np.asarray(_predict(rows, self.features, self.thresholds, self.children, self.shares))


def grow(ranked: Ranked, rows: np.ndarray, answers: np.ndarray, seed: int, *, trees: int = TREES) -> Forest:
    """A forest on these rows (numbers) with one answer each."""
    classes, answer = np.unique(answers, return_inverse=True)
    tried = max(1, int(np.sqrt(len(ranked.values))))
    places = np.asarray(rows, dtype=np.int64)
    every = np.array_equal(places, np.arange(ranked.ranks.shape[1]))
    ranks = ranked.ranks if every else np.ascontiguousarray(ranked.ranks[:, places])
    tables = ranked.values, ranks, ranked.distinct
    return Forest(classes, *_grow(*tables, places, answer.astype(np.int64), len(classes), trees, tried, seed))


def _sortable(values: np.ndarray) -> np.ndarray:
    """Unsigned integers that sort as the floats do, each with its row in the lower half."""
    bits = (values + np.float32(0)).view(np.uint32)  # no negative zero: it must tie with zero
    flipped = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return (flipped.astype(np.uint64) << np.uint64(32)) | np.arange(values.shape[1], dtype=np.uint64)


@njit(nogil=True, cache=True)
def _rank(keys, ranks):
    distinct = np.empty(len(keys), dtype=np.int64)
    for feature in range(len(keys)):
        rank = 0
        for place in range(keys.shape[1]):
            key = keys[feature, place]
            if place and key >> np.uint64(32) != keys[feature, place - 1] >> np.uint64(32):
                rank += 1
            ranks[feature, key & np.uint64(0xFFFFFFFF)] = rank
        distinct[feature] = rank + 1
    return distinct


@njit(nogil=True, cache=True)
def _below(state, bound):
    """A random number below the bound (xorshift64*); the bias is below bound / 2^32."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    high = (x * np.uint64(2685821657736338717)) >> np.uint64(32)
    return np.int64((high * np.uint64(bound)) >> np.uint64(32))


@njit(nogil=True, cache=True)
def _grow(values, ranks, distinct, rows, answers, classes, trees, tried, seed):
    count = len(rows)
    most = 2 * count - 1
    features = np.full((trees, most), -1, dtype=np.int64)
    thresholds = np.zeros((trees, most))
    children = np.zeros((trees, most), dtype=np.int64)
    shares = np.zeros((trees, most, classes))
    order = np.arange(len(ranks))
    highest = _largest(distinct)
    tally, seen = np.zeros(highest, dtype=np.uint64), np.zeros((highest >> 6) + 1, dtype=np.uint64)
    keys = np.empty(count, dtype=np.int64)
    state = np.array([np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)], dtype=np.uint64)
    for tree in range(trees):
        weights = np.zeros(count, dtype=np.int64)
        for _ in range(count):
            weights[_below(state, count)] += 1
        amounts = _amounts(weights, answers)
        held = _drawn(weights)  # places among the rows; each node owns a stretch
        ends = np.zeros((most, 2), dtype=np.int64)
        ends[0, 1] = len(held)
        used, node = 1, 0
        while node < used:
            begin, end = ends[node]
            here = held[begin:end]
            total = np.zeros(classes, dtype=np.int64)
            for place in here:
                total[answers[place]] += weights[place]
            whole = _sum(total)
            shares[tree, node] = total / whole
            if _largest(total) < whole:
                feature, cut = _best(
                    ranks, distinct, answers, weights, amounts, here, total, order, tried, tally, seen, keys, state
                )
                if feature >= 0:
                    middle, low, high = _parted(values[feature], ranks[feature], rows, here, cut)
                    threshold = low / 2 + high / 2
                    features[tree, node] = feature
                    thresholds[tree, node] = threshold if threshold < high else low
                    children[tree, node] = used
                    ends[used, 0], ends[used, 1] = begin, begin + middle
                    ends[used + 1, 0], ends[used + 1, 1] = begin + middle, end
                    used += 2
            node += 1
    return features, thresholds, children, shares


@inner()
def _sum(numbers):
    """As numpy's own, and the largest below: numba's would load its linear algebra, and scipy's, with what was kept."""
    total = np.int64(0)
    for number in numbers:
        total += number
    return total


@inner()
def _largest(numbers):
    largest = numbers[0]
    for number in numbers:
        largest = max(largest, number)
    return largest


@inner()
def _drawn(weights):
    """The places of rows that were drawn at all."""
    held, many = np.empty(len(weights), dtype=np.uint32), 0
    for place in range(len(weights)):
        if weights[place]:
            held[many] = place
            many += 1
    return held[:many]


@njit(nogil=True, cache=True)
def _amounts(weights, answers):
    """What each row adds to a count: its weight in the lower half, and in the upper one too if it is of class 1."""
    amounts = np.zeros(len(weights), dtype=np.uint64)
    for place in range(len(weights)):
        amounts[place] = np.uint64(weights[place] + (weights[place] * (answers[place] == 1) << 32))
    return amounts


@njit(nogil=True, cache=True)
def _best(ranks, distinct, answers, weights, amounts, here, total, order, tried, tally, seen, keys, state):
    """The feature and the highest rank on its left side that lower the Gini impurity most; -1 if nothing differs.

    Features are tried in random order; where all that were tried are constant here, the search goes on.
    """
    best, feature, cut, differ = -1.0, -1, 0, False
    for visited in range(len(order)):
        if visited >= tried and differ:
            break
        other = visited + _below(state, len(order) - visited)
        order[visited], order[other] = order[other], order[visited]
        candidate = order[visited]
        if distinct[candidate] < 2:
            continue
        line = ranks[candidate]
        if len(total) == 2 and distinct[candidate] <= 256 * len(here):
            gain, rank = _counted(line, amounts, here, total[0] + total[1], total[1], tally, seen)
        else:
            gain, rank = _sorted(line, answers, weights, here, total, keys)
        differ = differ or rank >= 0
        if gain > best:
            best, feature, cut = gain, candidate, rank
    return feature, cut


@njit(nogil=True, cache=True)
def _counted(line, amounts, here, whole, ones, tally, seen):
    """The best cut of one feature for two classes, by counting rows of each rank; -1 if the feature is constant here.

    `seen` has a bit for each rank that occurs; it and `tally` are left as they were found, zero. For two classes the decrease of
    impurity is (n l1 - t1 l)^2 / (l r): l, r rows on either side of n, l1 and t1 of class 1 on the left and altogether. After the
    last rank all rows are on the left, both sides of the comparison are 0, and it is never the best.
    """
    low, high = np.uint64(len(seen)), np.uint64(0)
    for i in range(np.uint64(len(here))):
        rank = np.uint64(line[here[i]])
        tally[rank] += amounts[here[i]]
        word = rank >> WORD
        seen[word] |= ONE << (rank & WITHIN)
        low, high = min(low, word), max(high, word)
    best, cut, left, left_ones = -1.0, np.int64(-1), np.int64(0), np.int64(0)
    for word in range(low, high + ONE):
        bits = seen[word]
        seen[word] = 0
        while bits:
            lowest = bits & (~bits + ONE)
            bits ^= lowest
            rank = (word << WORD) + PLACES[(lowest * SEQUENCE) >> TOP]
            left += np.int64(tally[rank] & LOWER)
            left_ones += np.int64(tally[rank] >> HALF)
            tally[rank] = 0
            lead = float(whole * left_ones - ones * left)
            sides = float(left) * (whole - left)
            if lead * lead > best * sides:
                best, cut = lead * lead / sides, np.int64(rank)
    return best, cut


@njit(nogil=True, cache=True)
def _sorted(line, answers, weights, here, total, keys):
    """The best cut of one feature for any number of classes, by sorting rows; -1 if the feature is constant here.

    The decrease of impurity is half the sum over classes of (n l_k - t_k l)^2 / (l r); two classes have equal terms.
    """
    count = len(line)
    for place in range(len(here)):
        keys[place] = np.int64(line[here[place]]) * count + np.int64(here[place])
    ordered = keys[: len(here)]
    ordered.sort()
    best, cut, on_left, whole = -1.0, -1, 0, _sum(total)
    left = np.zeros(len(total), dtype=np.int64)
    for place in range(len(here) - 1):
        owner, rank = ordered[place] % count, ordered[place] // count
        left[answers[owner]] += weights[owner]
        on_left += weights[owner]
        if rank < ordered[place + 1] // count:
            lead = 0.0  # for two classes the same numbers as by counting, so that ties are broken alike
            for kind in range(1, len(total)):
                ahead = float(whole * left[kind] - total[kind] * on_left)
                lead += ahead * ahead
            if len(total) > 2:
                ahead = float(whole * left[0] - total[0] * on_left)
                lead = (lead + ahead * ahead) / 2
            sides = float(on_left) * (whole - on_left)
            if lead > best * sides:
                best, cut = lead / sides, rank
    return best, cut


@njit(nogil=True, cache=True)
def _parted(values, ranks, rows, here, cut):
    """Move places with a rank up to the cut to the front; how many, and the values on both sides of the gap."""
    middle, low, high = 0, -np.inf, np.inf
    for i in range(len(here)):
        place = here[i]
        value = np.float64(values[rows[place]])
        if ranks[place] <= cut:
            low = max(low, value)
            here[i], here[middle] = here[middle], place
            middle += 1
        else:
            high = min(high, value)
    return middle, low, high


@njit(nogil=True, cache=True)
def _predict(rows, features, thresholds, children, shares):
    trees, _, classes = shares.shape
    scores = np.zeros((len(rows), classes))
    for row in range(len(rows)):
        for tree in range(trees):
            node = 0
            while features[tree, node] >= 0:
                right = np.int64(rows[row, features[tree, node]] > thresholds[tree, node])
                node = children[tree, node] + right
            for kind in range(classes):
                scores[row, kind] += shares[tree, node, kind]
    return scores / trees
