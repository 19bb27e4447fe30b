"""Compiled loops behind `kth_distances` for many queries: sixty-four candidates at a time, one bit each.

For every code of every column there is a row of bits: which candidates have another one. The rows of a query's codes are added up
bit by bit by full adders, so that five words hold the mismatches of sixty-four candidates, sooner than codes are compared.
Loops over whole rows of bits only read and count, never write, and what they call is inlined: LLVM vectorises them only then.

Hamming distances are counted level by level. A Gower sum is at least its number of mismatches, so that the few candidates with no
more of them than the k-th sum are measured in full, as `unmask.tables._kernels` does, and the results are equal bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from unmask.tables._kth_kernels import ROOM, _sort

INPUTS = 15  # rows of bits that four bits can count
PLANES = 5  # bits of a number of mismatches
LEVELS = 6  # counted in one pass
HALVINGS = 16  # at most, to find a limit that few sums are below
FINITE, NOWHERE = 1e300, 2**62  # sums are at most the number of columns; a row behind all others


class BitPairs(NamedTuple):
    """Queries against a block of candidates."""

    bits: np.ndarray  # codes of all columns x words, uint64; the last row is empty, for columns that are not there
    places: np.ndarray  # queries x padded columns: the row of bits of each code
    width: int  # columns, without padding
    first: int  # number of the first candidate of the block
    total: int  # candidates in it
    exclude_same_row: bool
    numbers: np.ndarray  # queries x columns, float64
    candidates: np.ndarray  # the same of the block
    weights: np.ndarray  # one factor per column of numbers


@njit(nogil=True, cache=True)
def spread(codes, starts, bits):
    """Take the bits of some rows (columns x rows) from a field of ones."""
    for column in range(codes.shape[0]):
        for row in range(codes.shape[1]):
            bits[starts[column] + codes[column, row], row >> 6] &= ~(np.uint64(1) << np.uint64(row & 63))


@njit(nogil=True, cache=True)
def _ones(word):
    """How many bits are set. LLVM knows this by heart, and takes one instruction where there is one."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True, cache=True)
def _add(a, b, c):
    """Three bits in, a sum and a carry out."""
    odd = a ^ b
    return odd ^ c, (a & b) | (odd & c)


@njit(nogil=True, cache=True)
def _fifteen(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o):  # noqa: E741
    """How many of fifteen words have each bit, in four bits, the least first."""
    a, p = _add(a, b, c)
    a, q = _add(a, d, e)
    a, r = _add(a, f, g)
    b, x = _add(p, q, r)
    a, p = _add(a, h, i)
    a, q = _add(a, j, k)
    b, y = _add(b, p, q)
    a, p = _add(a, l, m)
    a, q = _add(a, n, o)
    b, z = _add(b, p, q)
    c, d = _add(x, y, z)
    return a, b, c, d


@njit(nogil=True, cache=True)
def _thirty(one, other):
    """Two such numbers added, in five bits."""
    a, carry = one[0] ^ other[0], one[0] & other[0]
    b, carry = _add(one[1], other[1], carry)
    c, carry = _add(one[2], other[2], carry)
    d, carry = _add(one[3], other[3], carry)
    return a, b, c, d, carry


@njit(nogil=True, cache=True)
def _less(number, taken):
    """A number of five bits less another one, modulo 32."""
    a, borrow = number[0] ^ taken[0], ~number[0] & taken[0]
    b, borrow = _subtract(number[1], taken[1], borrow)
    c, borrow = _subtract(number[2], taken[2], borrow)
    d, borrow = _subtract(number[3], taken[3], borrow)
    return a, b, c, d, number[4] ^ taken[4] ^ borrow


@njit(nogil=True, cache=True)
def _subtract(a, b, borrow):
    return a ^ b ^ borrow, (~a & (b | borrow)) | (b & borrow)


@njit(nogil=True, cache=True)
def _spelt(number):
    """A number as five words: the same bits for all candidates."""
    none, full = np.uint64(0), ~np.uint64(0)
    return (
        full if number & 1 else none,
        full if number & 2 else none,
        full if number & 4 else none,
        full if number & 8 else none,
        full if number & 16 else none,
    )


@njit(nogil=True, cache=True)
def _count_six(bits, p, q, low):
    """How many candidates have low, low + 1, .. low + 5 mismatches."""
    none, taken = np.uint64(0), _spelt(low)
    u, v, w, x, y, z = none, none, none, none, none, none
    for at in range(np.uint64(bits.shape[1])):
        a, b, c, d = _fifteen(
            bits[p[0], at], bits[p[1], at], bits[p[2], at], bits[p[3], at], bits[p[4], at],
            bits[p[5], at], bits[p[6], at], bits[p[7], at], bits[p[8], at], bits[p[9], at],
            bits[p[10], at], bits[p[11], at], bits[p[12], at], bits[p[13], at], bits[p[14], at],
        )  # fmt: skip
        e = none
        if q is not None:  # decided when compiled
            other = _fifteen(
                bits[q[0], at], bits[q[1], at], bits[q[2], at], bits[q[3], at], bits[q[4], at],
                bits[q[5], at], bits[q[6], at], bits[q[7], at], bits[q[8], at], bits[q[9], at],
                bits[q[10], at], bits[q[11], at], bits[q[12], at], bits[q[13], at], bits[q[14], at],
            )  # fmt: skip
            a, b, c, d, e = _thirty((a, b, c, d), other)
        a, b, c, d, e = _less((a, b, c, d, e), taken)
        few, four = ~(b | c | d | e), c & ~(b | d | e)
        two = b & ~(c | d | e)
        u += _ones(few & ~a)
        v += _ones(few & a)
        w += _ones(two & ~a)
        x += _ones(two & a)
        y += _ones(four & ~a)
        z += _ones(four & a)
    return u, v, w, x, y, z


@njit(nogil=True, cache=True)
def _places(r, at):
    """Fifteen of a query's rows of bits."""
    return (
        r[at], r[at + 1], r[at + 2], r[at + 3], r[at + 4], r[at + 5], r[at + 6], r[at + 7],
        r[at + 8], r[at + 9], r[at + 10], r[at + 11], r[at + 12], r[at + 13], r[at + 14],
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _count_mismatches(pairs, wide, query, k, counts):
    """Add to `counts` how many candidates of the block have 0, 1, 2, ... mismatches, until there are k; returns where.

    What the block lacks to whole words looks like candidates that differ in every column.
    """
    same, together = query - pairs.first, 0
    own = pairs.exclude_same_row and 0 <= same < pairs.total
    skipped, left = _own_mismatches(pairs.bits, pairs.places[query], same) if own else -1, pairs.total - own
    for low in range(0, pairs.width, LEVELS):
        if wide is None:  # decided when compiled
            six = _count_six(pairs.bits, _places(pairs.places[query], 0), None, low)
        else:
            six = _count_six(pairs.bits, _places(pairs.places[query], 0), _places(pairs.places[query], INPUTS), low)
        for level in range(low, min(low + LEVELS, pairs.width)):
            here = np.int64(six[level - low]) - (level == skipped)
            left -= here
            counts[level] += here
            together += counts[level]
            if together >= k:
                return level
    counts[pairs.width] += left
    return pairs.width


@njit(nogil=True, cache=True)
def _own_mismatches(bits, places, row):
    count = 0
    for place in places:
        count += int((bits[place, row >> 6] >> np.uint64(row & 63)) & np.uint64(1))
    return count


@njit(nogil=True, cache=True)
def _add_two(total, one, other, carry):
    for i in range(total.size):
        a, b, c = total[i], one[i], other[i]
        odd = b ^ c
        total[i] = a ^ odd
        carry[i] = (b & c) | (a & odd)


@njit(nogil=True, cache=True)
def _add_one(total, one, carry):
    for i in range(total.size):
        a, b = total[i], one[i]
        total[i] = a ^ b
        carry[i] = a & b


@njit(nogil=True, cache=True)
def _copy(total, one):
    for i in range(total.size):
        total[i] = one[i]


@njit(nogil=True, cache=True)
def _add_up(total, rows, places, count, carries):
    """One bit of the sum of some rows; returns how many rows of carries there are. They may lie where added rows lay."""
    made = 0
    _copy(total, rows[places[0]])
    for place in range(1, count - 1, 2):
        _add_two(total, rows[places[place]], rows[places[place + 1]], carries[made])
        made += 1
    if count % 2 == 0:
        _add_one(total, rows[places[count - 1]], carries[made])
        made += 1
    return made


@njit(nogil=True, cache=True)
def _fill(pairs, query, planes, carries, straight):
    """The mismatches of all candidates with one query, written down: bit by bit, the least first."""
    left, plane = _add_up(planes[0], pairs.bits, pairs.places[query], pairs.width, carries), 1
    while left:
        left = _add_up(planes[plane], carries, straight, left, carries)
        plane += 1


@njit(nogil=True, cache=True)
def _among(planes, width, k):
    """The number of mismatches within which there are k candidates of the block; that of columns if there are fewer."""
    together, a, b, c, d, e = 0, planes[0], planes[1], planes[2], planes[3], planes[4]
    for level in range(width):
        v, w, x, y, z = _spelt(level)
        found = np.uint64(0)
        for i in range(a.size):
            found += _ones(~((a[i] ^ v) | (b[i] ^ w) | (c[i] ^ x) | (d[i] ^ y) | (e[i] ^ z)))
        together += int(found)
        if together >= k:
            return level
    return width


@njit(nogil=True, cache=True)
def _collect(planes, total, level, found, count):
    """Put the candidates with so many mismatches into `found` behind the first `count`; returns how many it holds then."""
    a, b, c, d, e = planes[0], planes[1], planes[2], planes[3], planes[4]
    v, w, x, y, z = _spelt(level)
    for at in range(a.size):
        chosen = ~((a[at] ^ v) | (b[at] ^ w) | (c[at] ^ x) | (d[at] ^ y) | (e[at] ^ z))
        while chosen != 0:
            lowest = chosen & (~chosen + np.uint64(1))
            row = at * 64 + np.int64(_ones(lowest - np.uint64(1)))
            chosen ^= lowest
            if row < total:  # what the block lacks to whole words looks like candidates that differ in every column
                found[count] = row
                count += 1
    return count


@njit(nogil=True, cache=True)
def by_levels(pairs, start, stop, wide, k, counts, rows):
    """Add to `counts` (queries x columns + 1) how many candidates of the block have 0, 1, 2, ... mismatches.

    Only as far as the k nearest of all blocks so far go. `rows` gets the first candidate with the least number, unless empty.
    """
    before, found = np.empty(pairs.width + 1, np.int64), np.empty(pairs.total, np.int64)
    planes, carries, straight = _room(pairs)
    for query in range(start, stop):
        before[:] = counts[query]
        _count_mismatches(pairs, wide, query, k, counts[query])
        if rows.size:
            level = 0
            while level < pairs.width and not counts[query, level]:
                level += 1
            if counts[query, level] and not before[level]:
                _fill(pairs, query, planes, carries, straight)
                _collect(planes, pairs.total, level, found, 0)
                own = pairs.exclude_same_row and found[0] == query - pairs.first
                rows[query] = pairs.first + found[1 if own else 0]


@njit(nogil=True, cache=True)
def _room(pairs):
    words = pairs.bits.shape[1]
    planes, carries = np.zeros((PLANES, words), np.uint64), np.empty((pairs.width // 2 + 1, words), np.uint64)
    return planes, carries, np.arange(pairs.width)


@njit(nogil=True, cache=True)
def _upto(values, limit):
    count = 0
    for i in range(values.size):
        count += values[i] <= limit
    return count


@njit(nogil=True, cache=True)
def _least(values, size, k, scratch):
    """Sort the k least of the first `size` values to the front: halving finds a limit that few others are below."""
    part, low, high = values[:size], 0.0, values[0]
    for i in range(size):
        high = max(high, part[i])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        count = _upto(part, middle)
        if count < k:
            low = middle
        else:
            high = middle
            if count <= k + LEVELS:
                break
    count = 0
    for i in range(size):
        value = part[i]
        values[count] = value
        count += value <= high
    _sort(values, count, scratch)


@njit(nogil=True, cache=True)
def _take_in(pairs, query, found, mismatches, k, best, size, scratch):
    """Sort the Gower sums of these candidates into `best`, which holds `size` sums; returns how many it holds then, k at most."""
    numbers, weights, candidates = pairs.numbers[query], pairs.weights, pairs.candidates
    same = query - pairs.first if pairs.exclude_same_row else -1
    worst = best[k - 1] if size == k else np.inf
    for row in found:
        total = mismatches
        for j in range(weights.size):
            gap = abs(candidates[row, j] - numbers[j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        best[size] = total
        size += total < worst and row != same
        if size == ROOM:
            _least(best, size, k, scratch)
            size, worst = k, best[k - 1]
            if worst == 0.0:  # coarse tables: a crowd of equal rows
                break
    if size > k:
        _least(best, size, k, scratch)
        return k
    _sort(best, size, scratch)
    return size


@njit(nogil=True, cache=True)
def _first_at(pairs, query, found, mismatches, least):
    """The first of these candidates whose Gower sum is the least one, as a row number of all blocks; NOWHERE if there is none."""
    numbers, weights, candidates = pairs.numbers[query], pairs.weights, pairs.candidates
    for row in found:
        total = mismatches
        for j in range(weights.size):
            gap = abs(candidates[row, j] - numbers[j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        if total == least and not (pairs.exclude_same_row and row == query - pairs.first):
            return pairs.first + row
    return NOWHERE


@njit(nogil=True, cache=True)
def by_measuring(pairs, order, start, stop, sums, rows):
    """Keep the k least Gower sums of each query (queries x k, rising) up to date; returns how many candidates were measured.

    Candidates are taken by their mismatches, fewest first, until the k-th sum is no more than the next number of them. In `order`
    queries with the same codes stand together: their candidates are found once. `rows` gets the first candidate with the least
    sum, unless it is empty.
    """
    k, measured, width, found = sums.shape[1], 0, pairs.width, np.empty(pairs.total, np.int64)
    best, scratch, ends = np.empty(ROOM), np.empty(ROOM), np.zeros(width + 2, np.int64)  # ends[m + 1]: of m mismatches
    planes, carries, straight = _room(pairs)
    collected, among = -1, -1
    for place in range(start, stop):
        query = order[place]
        if place == start or not _alike(pairs.places[query], pairs.places[order[place - 1]]):
            _fill(pairs, query, planes, carries, straight)
            collected, among = -1, -1
        best[:k] = sums[query]
        size, least, worst = _upto(best[:k], FINITE), best[0], best[k - 1]
        level, taken = 0, -1
        if worst > 1.0:  # else only candidates without a mismatch come into question
            if among < 0:
                among = _among(planes, width, k + pairs.exclude_same_row)  # the same row may be among them
            level = among if worst > among else int(np.ceil(worst)) - 1
        while taken < level:
            taken += 1
            if collected < taken:
                ends[taken + 1] = _collect(planes, pairs.total, taken, found, ends[taken])
                collected = taken
            some = found[ends[taken] : ends[taken + 1]]
            size = _take_in(pairs, query, some, float(taken), k, best, size, scratch)
            measured += some.size
            if taken == level < width and (size < k or best[k - 1] > level + 1):
                level += 1
        if rows.size and size and best[0] < least:
            rows[query] = NOWHERE
            for level in range(
                min(width, np.int64(best[0])) + 1
            ):  # as many mismatches may be the whole of an equal sum
                if collected < level:
                    ends[level + 1] = _collect(planes, pairs.total, level, found, ends[level])
                    collected = level
                some = found[ends[level] : ends[level + 1]]
                rows[query] = min(rows[query], _first_at(pairs, query, some, float(level), best[0]))
        sums[query, :size] = best[:size]
    return measured


@njit(nogil=True, cache=True)
def _alike(one, other):
    same = True
    for i in range(one.size):
        same &= one[i] == other[i]
    return same
