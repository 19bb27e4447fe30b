"""Parquet files, read some rows at a time into packed columns (`_packed.py`)."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unmask.errors import InputError, MissingExtraError
from unmask.memory import give_back
from unmask.tables._numerals import LARGEST_INTEGER
from unmask.tables._packed import Packer, can_be_packed, natural, unpacked
from unmask.tables.table import check_frame, check_width

# What damaged Parquet files do to pandas and pyarrow: their metadata is JSON that is taken at its word.
UNREADABLE = (
    OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, NotImplementedError, OverflowError, RecursionError,
)  # fmt: skip
ROWS_AT_ONCE = 50_000


def read_parquet(path: Path, most: int) -> pd.DataFrame:
    """The columns of a Parquet file, unless it holds more bytes than anybody meant."""
    try:
        _check_size(path, most)
        frame = _columns(path)
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow. Install it with: pip install 'unmask[parquet]'") from None
    except UNREADABLE as problem:
        what = str(problem) if isinstance(problem, OSError | ValueError) else type(problem).__name__
        raise InputError(f"{path.name}: not a readable Parquet file ({what}).") from None
    check_frame(frame, path.name)
    return frame


def _check_size(path: Path, most: int) -> None:
    """In a Parquet file a million equal values take a few bytes."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
    check_width(columns, path.name)
    if 8 * rows * columns > most:
        raise InputError(
            f"{path.name}: {rows:,} rows and {columns:,} columns take more than {most:,} bytes. If that is meant, set "
            "UNMASK_MAX_EXPANDED to a larger number of bytes."
        )


def _columns(path: Path) -> pd.DataFrame:
    """Packed columns, and what pandas makes of those that cannot be packed."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        empty = _empty(file.schema_arrow)
        packers = {name: Packer(file.schema_arrow.field(name).type) for name in _packable(file.schema_arrow, empty)}
        if packers:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(packers), use_threads=False):
                for name, packer in packers.items():
                    packer.add(batch.column(name))
    packed = {name: packer.packed() for name, packer in packers.items()}
    rest = [name for name in empty.columns if name not in packed or _is_rounded(packed[name])]
    if not packed:
        return _in_one_piece(path, None)
    if rest:
        others = _in_one_piece(path, rest)
        packed |= {name: others[name] for name in rest}
    give_back()
    return pd.DataFrame({name: packed[name] for name in empty.columns}, copy=False)


def _empty(schema: Any) -> pd.DataFrame:
    """What pandas makes of a file of these columns without rows: which are columns and which its index, and their types."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(schema.empty_table(), sink)
    return pd.read_parquet(BytesIO(sink.getvalue()))


def _packable(schema: Any, empty: pd.DataFrame) -> list[str]:
    """The columns that have the type which pandas gives to their values: it restores none that a frame once had."""
    if not all(isinstance(name, str) for name in empty.columns) or len(set(schema.names)) < len(schema.names):
        return []
    fields = [schema.field(name) for name in empty.columns]
    return [each.name for each in fields if can_be_packed(each.type) and empty[each.name].dtype == natural(each.type)]


def _is_rounded(series: pd.Series) -> bool:
    """Whether pandas would round whole numbers of a column, since some are missing."""
    distinct, index = unpacked(series)
    return bool(distinct.dtype == np.float64 and (index < 0).any() and distinct.abs().max() >= LARGEST_INTEGER)


def _in_one_piece(path: Path, names: list[str] | None) -> pd.DataFrame:
    frame = pd.read_parquet(path, columns=names)
    if rounded := rounded_integers(frame):
        from pyarrow import parquet

        frame = with_integers(frame, parquet.read_table(path, columns=rounded))
    return frame.reset_index(drop=True)


def rounded_integers(frame: pd.DataFrame) -> list[str]:
    """Columns of floats so large that they may be whole numbers, which pandas rounds where some are missing."""
    floats = [name for name in frame.columns if frame[name].dtype == np.float64 and frame[name].hasnans]
    return [name for name in floats if frame[name].abs().max() >= LARGEST_INTEGER]


def with_integers(frame: pd.DataFrame, arrow: Any) -> pd.DataFrame:
    """The frame with the whole numbers of an Arrow table as they are there."""
    from pyarrow import types

    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        if types.is_integer(column.type):
            dtype = "UInt64" if types.is_unsigned_integer(column.type) else "Int64"
            frame[name] = pd.array(column.to_pylist(), dtype=dtype)
    return frame
