"""Compiled loops behind `kth_distances` for many queries: sixty-four candidates at a time, one bit each.

For every code of every column there is a row of bits: which candidates have another one. The rows of a query's codes are added up
bit by bit by full adders, so that five words hold the mismatches of sixty-four candidates, sooner than codes are compared.
Loops over whole rows of bits only read and count, never write, and what they call is inlined: LLVM vectorises them only then.

Hamming distances are counted level by level. A Gower sum is at least its number of mismatches, so that the few candidates with no
more of them than the k-th sum are measured in full, as `_kernels` does, and the results are equal bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit

INPUTS = 15  # rows of bits that four bits can count
PLANES = 5  # bits of a number of mismatches
LEVELS = 6  # counted in one pass


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


@inner()
def ones(word):
    """How many bits are set. LLVM knows this by heart, and takes one instruction where there is one."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inner()
def _add(a, b, c):
    """Three bits in, a sum and a carry out."""
    odd = a ^ b
    return odd ^ c, (a & b) | (odd & c)


@inner()
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


@inner()
def _thirty(one, other):
    """Two such numbers added, in five bits."""
    a, carry = one[0] ^ other[0], one[0] & other[0]
    b, carry = _add(one[1], other[1], carry)
    c, carry = _add(one[2], other[2], carry)
    d, carry = _add(one[3], other[3], carry)
    return a, b, c, d, carry


@inner()
def _less(number, taken):
    """A number of five bits less another one, modulo 32."""
    a, borrow = number[0] ^ taken[0], ~number[0] & taken[0]
    b, borrow = _subtract(number[1], taken[1], borrow)
    c, borrow = _subtract(number[2], taken[2], borrow)
    d, borrow = _subtract(number[3], taken[3], borrow)
    return a, b, c, d, number[4] ^ taken[4] ^ borrow


@inner()
def _subtract(a, b, borrow):
    return a ^ b ^ borrow, (~a & (b | borrow)) | (b & borrow)


@inner()
def spelt(number):
    """A number as five words: the same bits for all candidates."""
    none, full = np.uint64(0), ~np.uint64(0)
    return (
        full if number & 1 else none,
        full if number & 2 else none,
        full if number & 4 else none,
        full if number & 8 else none,
        full if number & 16 else none,
    )


@inner()
def _count_six(bits, p, q, low):
    """How many candidates have low, low + 1, .. low + 5 mismatches."""
    none, taken = np.uint64(0), spelt(low)
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
        u += ones(few & ~a)
        v += ones(few & a)
        w += ones(two & ~a)
        x += ones(two & a)
        y += ones(four & ~a)
        z += ones(four & a)
    return u, v, w, x, y, z


@njit(nogil=True, cache=True)
def _places(r, at):
    """Fifteen of a query's rows of bits."""
    return (
        r[at], r[at + 1], r[at + 2], r[at + 3], r[at + 4], r[at + 5], r[at + 6], r[at + 7],
        r[at + 8], r[at + 9], r[at + 10], r[at + 11], r[at + 12], r[at + 13], r[at + 14],
    )  # fmt: skip


@inner()
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


@inner()
def _own_mismatches(bits, places, row):
    count = 0
    for place in places:
        count += int((bits[place, row >> 6] >> np.uint64(row & 63)) & np.uint64(1))
    return count


@inner()
def _add_two(total, one, other, carry):
    for i in range(total.size):
        a, b, c = total[i], one[i], other[i]
        odd = b ^ c
        total[i] = a ^ odd
        carry[i] = (b & c) | (a & odd)


@inner()
def _add_one(total, one, carry):
    for i in range(total.size):
        a, b = total[i], one[i]
        total[i] = a ^ b
        carry[i] = a & b


@inner()
def _copy(total, one):
    for i in range(total.size):
        total[i] = one[i]


@inner()
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


@inner()
def fill_planes(pairs, query, planes, carries, straight):
    """The mismatches of all candidates with one query, written down: bit by bit, the least first."""
    left, plane = _add_up(planes[0], pairs.bits, pairs.places[query], pairs.width, carries), 1
    while left:
        left = _add_up(planes[plane], carries, straight, left, carries)
        plane += 1


@inner()
def collect(planes, total, least, most, words, found, count):
    """Put the candidates with at least and at most so many mismatches into `found` behind the first `count`, rising; returns
    how many it holds then. `words` is room for two rows of bits: those of the candidates, and which of their words are not
    empty. That cannot be guessed, so that a branch for each word would cost more than all the rest.
    """
    chosen, places, filled = words[0], words[1], 0
    _choose(planes, spelt(least), spelt(most), chosen)
    if total % 64:  # what the block lacks to whole words looks like candidates that differ in every column
        chosen[-1] &= (np.uint64(1) << np.uint64(total % 64)) - np.uint64(1)
    for at in range(np.uint64(chosen.size)):
        places[filled] = at
        filled += chosen[at] != 0
    for place in range(filled):
        at = places[place]
        word = chosen[at]
        while word != 0:
            below = word & (~word + np.uint64(1))
            found[count] = at * np.uint64(64) + ones(below - np.uint64(1))
            count += 1
            word ^= below
    return count


@inner()
def mismatches_of(planes, row, most):
    """How many mismatches a candidate has that has at most so many: no more bits of them are looked at."""
    at, bit, number = row >> np.uint64(6), row & np.uint64(63), np.uint64(0)
    for plane in range(1 if most < 2 else 2 if most < 4 else PLANES):
        number |= ((planes[plane, at] >> bit) & np.uint64(1)) << np.uint64(plane)
    return number


@inner()
def _choose(planes, least, most, chosen):
    a, b, c, d, e = planes[0], planes[1], planes[2], planes[3], planes[4]
    for at in range(np.uint64(chosen.size)):
        number = a[at], b[at], c[at], d[at], e[at]
        chosen[at] = ~(_is_less(number, least) | _is_less(most, number))


@inner()
def _is_less(one, other):
    """Whether a number of five bits is less than another one: whether its last bit has to borrow."""
    borrow = ~one[0] & other[0]
    borrow = _subtract(one[1], other[1], borrow)[1]
    borrow = _subtract(one[2], other[2], borrow)[1]
    borrow = _subtract(one[3], other[3], borrow)[1]
    return _subtract(one[4], other[4], borrow)[1]


@njit(nogil=True, cache=True)
def by_levels(pairs, start, stop, wide, k, counts, rows):
    """Add to `counts` (queries x columns + 1) how many candidates of the block have 0, 1, 2, ... mismatches.

    Only as far as the k nearest of all blocks so far go. `rows` gets the first candidate with the least number, unless empty.
    """
    before, found = np.empty(pairs.width + 1, np.int64), np.empty(pairs.total, np.int64)
    planes, carries, straight = room(pairs)
    words = np.empty((2, pairs.bits.shape[1]), np.uint64)
    for query in range(start, stop):
        before[:] = counts[query]
        _count_mismatches(pairs, wide, query, k, counts[query])
        if rows.size:
            level = 0
            while level < pairs.width and not counts[query, level]:
                level += 1
            if counts[query, level] and not before[level]:
                fill_planes(pairs, query, planes, carries, straight)
                collect(planes, pairs.total, level, level, words, found, 0)
                own = pairs.exclude_same_row and found[0] == query - pairs.first
                rows[query] = pairs.first + found[1 if own else 0]


@inner()
def room(pairs):
    words = pairs.bits.shape[1]
    planes, carries = np.zeros((PLANES, words), np.uint64), np.empty((pairs.width // 2 + 1, words), np.uint64)
    return planes, carries, np.arange(pairs.width)
