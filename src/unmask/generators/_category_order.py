"""Categories of a node by rising mean response, compiled: a few by insertion, more by quicksort.

Which of equal means comes first decides between equal cuts, so the quicksort is, swap by swap, numba's own `argsort` (the
median of three, small parts by insertion), which takes a second to compile.
"""

from __future__ import annotations

from unmask.compiled import inner

FEW, SMALL_PART = 16, 15  # categories that are sorted by insertion: all of a node, part of more
MOST_WAITING = 64  # parts that wait to be sorted: each is at least half of what was left


@inner()
def order_categories(codes, held, response, means, found, stack):
    """Sort the first `found` codes by rising mean response: `response` by rows `held`. `means` and `stack` are work space."""
    for i in range(found):
        means[i] = response[codes[i]] / held[codes[i]]
    if found <= FEW:
        _sort_few(codes, means, 0, found - 1)
        return
    stack[0, 0], stack[0, 1], waiting = 0, found - 1, 1
    while waiting > 0:
        waiting -= 1
        low, high = stack[waiting, 0], stack[waiting, 1]
        while high - low >= SMALL_PART:
            middle = _halve(codes, means, low, high)
            if high - middle > middle - low:  # the larger part waits, so that few ever do
                stack[waiting, 0], stack[waiting, 1] = middle + 1, high
                high = middle - 1
            else:
                stack[waiting, 0], stack[waiting, 1] = low, middle - 1
                low = middle + 1
            waiting += 1
        _sort_few(codes, means, low, high)


@inner()
def _halve(codes, means, low, high):
    """Put what is smaller than some value before it and what is larger behind it; its place."""
    middle = (low + high) >> 1
    if means[middle] < means[low]:
        _swap(codes, means, low, middle)
    if means[high] < means[middle]:
        _swap(codes, means, middle, high)
    if means[middle] < means[low]:
        _swap(codes, means, low, middle)
    _swap(codes, means, middle, high)
    value, i, j = means[high], low, high - 1
    while True:
        while i < high and means[i] < value:
            i += 1
        while j >= low and value < means[j]:
            j -= 1
        if i >= j:
            break
        _swap(codes, means, i, j)
        i += 1
        j -= 1
    _swap(codes, means, i, high)
    return i


@inner()
def _swap(codes, means, one, other):
    codes[one], codes[other] = codes[other], codes[one]
    means[one], means[other] = means[other], means[one]


@inner()
def _sort_few(codes, means, low, high):
    for i in range(low + 1, high + 1):
        code, mean, j = codes[i], means[i], i
        while j > low and means[j - 1] > mean:
            codes[j], means[j] = codes[j - 1], means[j - 1]
            j -= 1
        codes[j], means[j] = code, mean
