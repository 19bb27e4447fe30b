"""Data sets that are not bundled, read from files that users have, and digits that scikit-learn brings along."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

from unmask.errors import InputError
from unmask.tables.read import read_table
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table

CENSUS_NUMBERS = (
    "age", "wage_per_hour", "capital_gains", "capital_losses", "dividends_from_stocks", "num_persons_worked_for_employer",
    "weeks_worked_in_year",
)  # fmt: skip
CENSUS_BINS = 25
CENSUS_WEIGHT = "instance_weight"
IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
SIDE, LEVELS = 8, 16  # of the small images of MNIST


def census(path: str | Path) -> Table:
    """UCI Census-Income (KDD): 199,523 people, 41 columns; the weight is left out, numbers have 25 equal bins.

    `path` is the file census_income_kdd_train.csv.gz, or the folder that holds it. It is not bundled.
    """
    import pandas as pd

    file = _file(path, "census_income_kdd_train.csv.gz")
    frame = pd.read_csv(file, keep_default_na=False).drop(columns=CENSUS_WEIGHT, errors="ignore")
    columns = []
    for name in frame.columns:
        if name in CENSUS_NUMBERS:
            lower, upper = int(frame[name].min()), int(frame[name].max())
            columns.append(Column(name, Kind.INTEGER, lower=lower, upper=upper, bins=CENSUS_BINS))
        else:
            frame[name] = frame[name].astype(str)
            columns.append(Column(name, Kind.CATEGORICAL, values=tuple(sorted(frame[name].unique()))))
    return read_table(frame, Schema(tuple(columns), origin=Origin.PUBLIC))


def digits(path: str | Path | None = None) -> Table:
    """Handwritten digits of 8 x 8 pixels, a column each, with the digit as first column.

    Without a path: the 1,797 of scikit-learn, 17 levels. With the folder of MNIST's idx files: its 60,000, brought down
    to 8 x 8 pixels of 16 levels, as ganev2023 does.
    """
    if path is not None:
        return _mnist(Path(path))
    from sklearn.datasets import load_digits

    found = load_digits()
    return _pictures(found.data.astype(np.int64), found.target, levels=17)


def _mnist(folder: Path) -> Table:
    with gzip.open(_file(folder, IMAGES)) as handle:
        _, count, high, wide = struct.unpack(">IIII", handle.read(16))
        pixels = np.frombuffer(handle.read(), dtype=np.uint8).reshape(count, high, wide)
    with gzip.open(_file(folder, LABELS)) as handle:
        handle.read(8)
        labels = np.frombuffer(handle.read(), dtype=np.uint8)
    framed = np.pad(pixels, ((0, 0), (2, 2), (2, 2)))  # 28 x 28 in a frame of 32 x 32: blocks of 4 x 4
    small = framed.reshape(count, SIDE, 4, SIDE, 4).mean(axis=(2, 4))
    return _pictures((small * LEVELS / 256).astype(np.int64).reshape(count, -1), labels, levels=LEVELS)


def _pictures(pixels: np.ndarray, labels: np.ndarray, *, levels: int) -> Table:
    values = tuple(range(levels))
    schema = Schema(
        (
            Column("digit", Kind.CATEGORICAL, values=tuple(range(10))),
            *(Column(f"pixel{place}", Kind.CATEGORICAL, values=values) for place in range(pixels.shape[1])),
        )
    )
    codes = np.column_stack([labels, pixels]).astype(schema.code_type)
    return Table(schema, np.asfortranarray(codes), np.empty((len(codes), 0)))


def _file(path: str | Path, name: str) -> Path:
    file = Path(path) / name if Path(path).is_dir() else Path(path)
    if not file.exists():
        raise InputError(
            f"{file}: there is no such file. This data set is not bundled: docs/how-to/data.md says where it is found."
        )
    return file
