"""Columns of Arrow as their distinct values and a small number for each row, where a frame would take eight bytes a value.

Such a column is a pandas series of Arrow's own dictionary type. Whoever knows nothing of it reads the values; `raw_column` reads
the distinct ones once, as what pandas makes of a column of them. Arrow is imported only where there is such a column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from unmask.tables._dates import is_pandas_2


def is_packed(series: pd.Series) -> bool:
    """Whether the column is held as distinct values."""
    if not isinstance(series.dtype, pd.ArrowDtype):
        return False
    from pyarrow import types

    return bool(types.is_dictionary(series.dtype.pyarrow_dtype))


def can_be_packed(kind: Any) -> bool:
    """Whether values of this Arrow type are told apart by it as pandas does, and take more than a byte or two."""
    from pyarrow import types

    tests = types.is_integer, types.is_float32, types.is_float64, types.is_timestamp, types.is_date32
    return any(test(kind) for test in (*tests, types.is_string, types.is_large_string))


def natural(kind: Any) -> Any:
    """The type that pandas gives to values of this Arrow type, none of which is missing."""
    import pyarrow as pa

    return _as_pandas(pa.array([], kind)).dtype


def _as_pandas(values: Any) -> pd.Series:
    from pyarrow import types

    found = values.to_pandas()
    if is_pandas_2() or not (types.is_string(values.type) or types.is_large_string(values.type)):
        return found
    return found.astype(str)  # as pandas 3 reads texts of a file, also where Arrow makes objects of them


class Packer:
    """A column that comes in parts."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.parts: list[Any] = []

    def add(self, part: Any) -> None:
        """Some more rows."""
        coded = part.dictionary_encode()
        self.parts.append(_with_index(coded, np.min_scalar_type(-max(len(coded.dictionary), 1))))

    def packed(self) -> pd.Series:
        """All rows; values stand in the order in which they first occur."""
        import pyarrow as pa

        parts = [_with_index(part, np.dtype(np.int32)) for part in self.parts]  # together they have more values
        self.parts.clear()
        array = _one_chunk(pa.chunked_array(parts, type=pa.dictionary(pa.int32(), self.kind)))
        small = np.min_scalar_type(-max(len(array.dictionary), 1))
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([_with_index(array, small)])))


def _one_chunk(array: Any) -> Any:
    """The column with one list of distinct values."""
    import pyarrow as pa

    whole = array.unify_dictionaries().combine_chunks()  # which is a chunk or, in some versions, still a list of one
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _with_index(array: Any, small: np.dtype) -> Any:
    """The same column with numbers of another type for its rows."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(array.indices.cast(pa.from_numpy_dtype(small)), array.dictionary)


def unpacked(series: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """The distinct values as pandas has them, and which of them each row has (-1 = missing)."""
    import pyarrow as pa
    from pyarrow import types

    array = _one_chunk(series.array.__arrow_array__())
    indices = array.indices
    if types.is_unsigned_integer(indices.type):
        indices = indices.cast(pa.int64())
    index = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    distinct = _as_pandas(array.dictionary)
    if types.is_integer(array.dictionary.type) and (index < 0).any():
        distinct = distinct.astype(np.float64)  # as pandas has whole numbers of which some are missing
    return distinct.set_axis(range(len(distinct))).rename(series.name), index


def plain(series: pd.Series) -> pd.Series:
    """A column as pandas reads it in one piece."""
    if not is_packed(series):
        return series
    distinct, index = unpacked(series)
    if distinct.dtype == object:
        return pd.Series(
            np.append(distinct.to_numpy(), [None])[index], name=series.name, index=series.index, dtype=object
        )
    rows = distinct.reindex(index) if (index < 0).any() else distinct.take(index)  # there is no row -1: it is missing
    return rows.set_axis(series.index)


def stacked_series(parts: list[pd.Series]) -> pd.Series:
    """Columns one below the other; they stay packed where all are, and hold values of one type."""
    if not all(map(is_packed, parts)) or len({str(unpacked(part)[0].dtype) for part in parts}) > 1:
        return pd.concat([plain(part) for part in parts], ignore_index=True)
    packer = Packer(parts[0].dtype.pyarrow_dtype.value_type)
    for part in parts:
        packer.parts += part.array.__arrow_array__().chunks
    return packer.packed()
