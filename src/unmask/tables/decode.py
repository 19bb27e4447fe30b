"""From codes and numbers back to values in the types they came in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import SchemaError
from unmask.tables._dates import dates_of_texts, texts_of_dates
from unmask.tables.encode import stamps_of
from unmask.tables.schema import Column, Kind, text_of

if TYPE_CHECKING:
    import pandas as pd

# A numpy integer cannot be missing; pandas' own integers can.
NULLABLE = {f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NULLABLE["bool"] = "boolean"


def decode(column: Column, codes: np.ndarray, numbers: np.ndarray | None) -> pd.Series:
    """The values of a column; `numbers` is given for numbers and dates."""
    if numbers is None:
        return _categories(column, codes)
    if column.kind is Kind.DATETIME:
        return _dates(column, numbers)
    import pandas as pd

    missing = np.isnan(numbers)
    dtype = column.dtype or ("int64" if column.kind is Kind.INTEGER else "float64")
    if missing.any():
        dtype = NULLABLE.get(dtype, dtype)
    if pd.api.types.is_extension_array_dtype(dtype):
        nullable = pd.arrays.FloatingArray(np.where(missing, 0.0, numbers), missing)
        return pd.Series(nullable, name=column.name).astype(dtype)
    return pd.Series(numbers.astype(dtype), name=column.name)


def check_types(column: Column) -> None:
    """Refuse a pandas type or a date format that cannot give the values of a column back as they are."""
    numbers = np.array([column.lower, column.upper]) if column.is_numeric else None
    codes = np.zeros(2, dtype=np.int64) if column.is_numeric else np.arange(len(column.values))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            back = decode(column, codes, numbers)
            if column.format and column.kind is Kind.DATETIME:
                given = dates_of_texts(tuple(back), column.format)
                same = bool((given == stamps_of(numbers, column.resolution)).all())
            elif column.kind is Kind.DATETIME:
                same = True  # it could be made
            elif numbers is not None:
                narrow = column.dtype.lower() in ("float16", "float32")  # which round, and are read as they are written
                same = np.allclose(back.to_numpy(dtype=np.float64), numbers, rtol=2e-3 if narrow else 0, atol=0)
            else:
                same = [text_of(value) for value in back] == [text_of(value) for value in column.values]
    except (TypeError, ValueError, OverflowError, AttributeError, NotImplementedError, RuntimeWarning, UserWarning):
        same = False
    if not same:
        how = (
            f"format '{column.format}'" if column.format and column.kind is Kind.DATETIME else f"dtype '{column.dtype}'"
        )
        raise SchemaError(
            f"columns.{column.name}: {how} cannot give back its values. Correct it, or leave it out for the usual one."
        )


def _dates(column: Column, numbers: np.ndarray) -> pd.Series:
    import pandas as pd

    if column.format:
        distinct, index = np.unique(numbers, return_inverse=True)
        texts = texts_of_dates(_stamps(column, distinct), column.format)
        return pd.Series(texts[index], name=column.name, dtype=column.dtype or "str")
    stamps = _stamps(column, numbers)
    if column.dtype == "date":
        days = [None if pd.isna(stamp) else stamp.date() for stamp in stamps]
        return pd.Series(days, name=column.name, dtype=object)
    dtype = pd.api.types.pandas_dtype(column.dtype or "datetime64[us]")
    if isinstance(dtype, pd.DatetimeTZDtype):
        return stamps.dt.tz_localize("UTC").astype(dtype)
    return stamps.astype(dtype)


def _stamps(column: Column, numbers: np.ndarray) -> pd.Series:
    import pandas as pd

    return pd.Series(stamps_of(numbers, column.resolution).astype("datetime64[us]"), name=column.name)


def _categories(column: Column, codes: np.ndarray) -> pd.Series:
    import pandas as pd

    if len(strange := np.flatnonzero(codes == column.unlisted_code)):
        raise SchemaError(
            f"Row {strange[0]} of column '{column.name}' held a value that the schema does not list; it cannot be given back."
        )
    missing = codes == column.missing_code
    generalised = (codes > column.unlisted_code).any()
    if column.dtype == "category" and not generalised:
        index = np.where(missing, -1, codes.astype(np.int64))
        categories = pd.Categorical.from_codes(index, categories=pd.Index(column.values), ordered=column.ordered)
        return pd.Series(categories, name=column.name)
    if generalised or column.dtype == "category":
        dtype = "object"
    else:
        dtype = column.dtype or ("str" if all(isinstance(value, str) for value in column.values) else "object")
    absent = np.nan if dtype == "str" else None  # as pandas 3 has it in texts; in pandas 2 those are objects
    lookup = np.empty(column.code_count, dtype=object)
    nothing = [absent] * (column.size + 1 - len(column.values))
    lookup[:] = [*column.values, *nothing, *(name for name, _ in column.groups)]
    return pd.Series(lookup[codes], name=column.name, dtype=NULLABLE.get(dtype, dtype) if missing.any() else dtype)
