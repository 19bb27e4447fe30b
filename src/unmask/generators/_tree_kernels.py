"""Growing a tree and going down it, compiled.

Arrays are made by the caller, and copied and sorted by plain loops: numba's own ways for that take seconds to compile.
"""

from __future__ import annotations

import numpy as np

from unmask.compiled import inner, njit
from unmask.generators._category_order import order_categories

LEAST_GAIN = 1e-8  # share of the root's impurity that a split must remove (synthpop's `cp`)


@njit(cache=True)
def grow_arrays(known, target, labels, classes, min_leaf, grown, scratch):
    """Fill the arrays of a tree; how many nodes it has, and how many categories are listed.

    `known` are those of `Predictors`, `grown` those of `Tree` (zeros, all rows in `donors`), `scratch` is work space.
    """
    values, categories, ranks, orders = known
    predictor, threshold, child, first, last, start, count, listed, donors = grown
    walks, buffer, goes_left, totals, codes = scratch[0], scratch[1], scratch[2], scratch[3], scratch[-1]
    _presort(orders, categories, donors, goes_left, walks)
    count[0] = len(donors)
    made, used, least = 1, 0, -1.0
    for node in range(len(predictor)):
        if node == made:
            break
        predictor[node] = -1
        begin, size = start[node], count[node]
        end = begin + size
        here = donors[begin:end]
        if size < 2 * min_leaf or _pure(here, target):
            continue
        if least < 0:
            least = LEAST_GAIN * _impurity(here, target, labels, classes, totals)
        at, cut, split, found = _best_split(
            here, begin, categories, ranks, walks, target, labels, classes, min_leaf, least, scratch
        )
        if at < 0:
            continue
        if categories[at]:
            # List the smaller side: a category that no row here has then follows the larger one.
            chosen = codes[:split] if 2 * cut <= size else codes[split:found]
            first[node] = used
            used = last[node] = _list(chosen, listed, np.int64(used))
            cut = _mark(here, ranks[at], listed[first[node] : used], goes_left)
        else:
            walk = walks[at, begin:end]
            threshold[node] = _between(values[at, walk[cut - 1]], values[at, walk[cut]])
            for i in range(size):
                goes_left[walk[i]] = i < cut
        predictor[node] = at
        child[node] = made
        start[made], count[made] = begin, cut
        start[made + 1], count[made + 1] = begin + cut, size - cut
        made += 2
        _part(here, goes_left, buffer)
        if max(cut, size - cut) >= 2 * min_leaf:  # else both are leaves, which need no order
            for other in range(len(categories)):
                if not categories[other]:
                    _part(walks[other, begin:end], goes_left, buffer)
    return made, used


@inner()
def _presort(orders, categories, rows, wanted, walks):
    """The rows named, in the order of each predictor that has one."""
    for row in rows:
        wanted[row] = True
    for at in range(len(categories)):
        if not categories[at]:
            place = 0
            for row in orders[at]:
                if wanted[row]:
                    walks[at, place] = row
                    place += 1


@inner()
def _best_split(here, begin, categories, ranks, walks, target, labels, classes, min_leaf, least, scratch):
    """The best split of a node: predictor (-1: none), rows on the left, categories on the left, categories in all."""
    _, _, _, totals, left, held, response, means, stack, codes, in_order, best_codes = scratch
    size = len(here)
    mean, base, major = 0.0, 0.0, -1
    if classes:
        base, major = _class_totals(here, labels, totals)
    else:
        mean = _mean(here, target)
    best, best_at, best_cut, best_split, best_found = base + least, -1, 0, 0, 0
    for at in range(len(categories)):
        found, split = 0, 0
        if categories[at]:
            found = _list_categories(here, ranks[at], labels, target, major, mean, held, response, codes)
            order_categories(codes, held, response, means, found, stack)
            if found == 1:
                score, cut = -1.0, 0
            elif classes:
                score, cut, split = _cut_classes_by_category(
                    here, ranks[at], codes[:found], held, labels, in_order, totals, left, base, min_leaf
                )
            else:
                score, cut, split = _cut_numbers_by_category(codes[:found], held, response, size, min_leaf)
            for code in codes[:found]:
                held[code] = 0
                response[code] = 0.0
        else:
            walk, key = walks[at, begin : begin + size], ranks[at]
            if key[walk[0]] == key[walk[size - 1]]:
                score, cut = -1.0, 0
            elif classes:
                score, cut = _cut_classes(walk, key, labels, totals, left, base, min_leaf)
            else:
                score, cut = _cut_numbers(walk, key, target, mean, min_leaf)
        if score > best:
            best, best_at, best_cut, best_split, best_found = score, at, cut, split, found
            _copy(codes, best_codes, found)
    return best_at, best_cut, best_split, best_found


@inner()
def _pure(here, target):
    value = target[here[0]]
    for row in here:  # noqa: SIM110 (compiled)
        if target[row] != value:
            return False
    return True


@inner()
def _impurity(here, target, labels, classes, totals):
    """Rows times the Gini impurity, or the sum of squares around the mean."""
    if classes:
        return len(here) - _class_totals(here, labels, totals)[0]
    mean, spread = _mean(here, target), 0.0
    for row in here:
        spread += (target[row] - mean) ** 2
    return spread


@inner()
def _class_totals(here, labels, totals):
    """Fill the class counts of a node; their summed squares over its size, and the commonest class."""
    totals[:] = 0
    squares, major = 0, labels[here[0]]
    for row in here:
        label = labels[row]
        squares += 2 * totals[label] + 1
        totals[label] += 1
        if totals[label] > totals[major]:
            major = label
    return squares / len(here), major


@inner()
def _mean(here, target):
    total = 0.0
    for row in here:
        total += target[row]
    return total / len(here)


@inner()
def _list_categories(here, code_of, labels, target, major, mean, held, response, codes):
    """Write the categories of a node as they come; how many there are. Fills `held` and `response`.

    The response is the number itself, or whether the row has the node's commonest class (`major`).
    """
    found = 0
    for row in here:
        code = code_of[row]
        if held[code] == 0:
            codes[found] = code
            found += 1
        held[code] += 1
        if major >= 0:
            response[code] += labels[row] == major
        else:
            response[code] += target[row] - mean
    return found


@inner()
def _copy(source, target, size):
    for i in range(size):
        target[i] = source[i]


@inner()
def _cut_numbers_by_category(codes, held, response, size, min_leaf):
    """As `_cut_numbers`, between categories in this order; also how many categories are on the left."""
    best, cut, split = -1.0, 0, 0
    rows, on_left = 0, 0.0
    for i in range(len(codes) - 1):
        rows += held[codes[i]]
        on_left += response[codes[i]]
        if min_leaf <= rows <= size - min_leaf:
            score = on_left * on_left * (size / (rows * (size - rows)))
            if score > best:
                best, cut, split = score, rows, i + 1
    return best, cut, split


@inner()
def _cut_classes_by_category(here, code_of, codes, held, labels, in_order, totals, left, base, min_leaf):
    """As `_cut_classes`, between categories in this order; also how many categories are on the left."""
    stop = 0
    for code in codes:
        stop += held[code]
        held[code] = stop - held[code]
    for row in here:
        code = code_of[row]
        in_order[held[code]] = labels[row]
        held[code] += 1  # ends as the place where the category stops
    size, rows = len(here), 0
    best, cut, split = -1.0, 0, 0
    on_left, on_right = 0, round(base * size)
    for i in range(len(codes) - 1):
        stop = held[codes[i]]
        if stop > size - min_leaf:
            break
        for label in in_order[rows:stop]:
            on_left += 2 * left[label] + 1
            on_right -= 2 * (totals[label] - left[label]) - 1
            left[label] += 1
        rows = stop
        if rows >= min_leaf:
            score = on_left / rows + on_right / (size - rows)
            if score > best:
                best, cut, split = score, rows, i + 1
    _clear(left, in_order[:rows])
    return best, cut, split


@inner()
def _clear(counts, labels):
    if len(counts) < len(labels):
        counts[:] = 0
    else:
        for label in labels:
            counts[label] = 0


@inner()
def _cut_classes(walk, keys, labels, totals, left, base, min_leaf):
    """The best cut of rows in this order: the sum over sides of squared class counts / rows, and the rows on the left."""
    size = len(walk)
    best, cut = -1.0, 0
    on_left, on_right = 0, round(base * size)
    key = keys[walk[0]]
    for i in range(size - min_leaf):
        label = labels[walk[i]]
        on_left += 2 * left[label] + 1
        on_right -= 2 * (totals[label] - left[label]) - 1
        left[label] += 1
        following = keys[walk[i + 1]]
        if following != key:
            if i + 1 >= min_leaf:
                score = on_left / (i + 1) + on_right / (size - i - 1)
                if score > best:
                    best, cut = score, i + 1
            key = following
    if len(left) < size:
        left[:] = 0
    else:
        for row in walk:
            left[labels[row]] = 0
    return best, cut


@inner()
def _cut_numbers(walk, keys, target, mean, min_leaf):
    """The best cut of rows in this order: the sum over sides of squared sums / rows, and the rows on the left.

    Numbers count from the node's mean, so that the right sum is minus the left one.
    """
    size = len(walk)
    best, cut = -1.0, 0
    on_left = 0.0
    key = keys[walk[0]]
    for i in range(size - min_leaf):
        on_left += target[walk[i]] - mean
        following = keys[walk[i + 1]]
        if following != key:
            if i + 1 >= min_leaf:
                score = on_left * on_left * (size / ((i + 1) * (size - i - 1)))
                if score > best:
                    best, cut = score, i + 1
            key = following
    return best, cut


@inner()
def _list(chosen, listed, used):
    """Append some categories, in rising order (Shell's sort: few are usual)."""
    size = len(chosen)
    here = listed[used : used + size]
    _copy(chosen, here, size)
    gap = size // 2
    while gap > 0:
        for i in range(gap, size):
            code, j = here[i], i
            while j >= gap and here[j - gap] > code:
                here[j] = here[j - gap]
                j -= gap
            here[j] = code
        gap //= 2
    return used + size


@inner()
def _mark(here, code_of, listed, goes_left):
    """Note which rows hold a listed category; how many."""
    marked = 0
    for row in here:
        goes_left[row] = _holds(listed, code_of[row])
        marked += goes_left[row]
    return marked


@inner()
def _holds(listed, code):
    """Whether a sorted list holds a code."""
    low, high = 0, len(listed)
    while high - low > 8:
        middle = (low + high) // 2
        if listed[middle] > code:
            high = middle
        else:
            low = middle
    for i in range(low, high):  # noqa: SIM110 (compiled)
        if listed[i] == code:
            return True
    return False


@inner()
def _between(low, high):
    """A threshold at or above the low value and below the high one, halfway where numbers allow."""
    middle = low + (high - low) / 2 if low > -np.inf else low
    return middle if middle < high else low


@inner()
def _part(rows, goes_left, buffer):
    """Move the rows that go left to the front, keeping their order."""
    place, kept = 0, 0
    for row in rows:
        buffer[kept] = row
        rows[place] = row
        place += goes_left[row]
        kept += not goes_left[row]
    for i in range(kept):
        rows[place + i] = buffer[i]


@njit(cache=True)
def descend(predictor, threshold, child, first, last, listed, values, leaves):
    """Fill `leaves` with the leaf that each column of `values` falls into."""
    for row in range(len(leaves)):
        node, at = 0, predictor[0]
        while at >= 0:
            value = values[at, row]
            if last[node] > first[node]:
                goes_left = _holds(listed[first[node] : last[node]], np.int32(value))
            else:
                goes_left = value <= threshold[node]
            node = child[node] + (not goes_left)
            at = predictor[node]
        leaves[row] = node
