"""Synthesizers of the Synthetic Data Vault, of its 1.x and its 2.0 interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from unmask.errors import GeneratorError, MissingExtraError, ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.adapters._frames import (
    blamed,
    empty,
    global_seed,
    seed_from,
    settings_text,
    table_from,
    without_persons,
)
from unmask.generators.claim import Claim
from unmask.tables._dates import UNPADDED
from unmask.tables.schema import Column, Kind, Schema, quoted
from unmask.tables.table import Table

TABLE = "table"  # 2.0 wants every table to have a name


@dataclass(frozen=True)
class Sdv:
    """A single-table synthesizer of SDV, such as GaussianCopulaSynthesizer or CTGANSynthesizer.

    SDV is told the column kinds of the schema instead of guessing them. It seeds itself with a constant, so that every
    fit of every user draws the same noise: we replace that seed by one from `rng`. Some of that is not public in SDV.
    """

    name: ClassVar[str] = "sdv"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    synthesizer: str = "GaussianCopulaSynthesizer"
    parameters: str | Mapping[str, Any] = "{}"  # of its constructor: a dict, or JSON text

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", settings_text(self.parameters, "sdv"))

    def fit(self, table: Table, rng: np.random.Generator | None) -> SdvModel:
        check_fits(table, self.name)
        kind = self._kind()
        frame = _plain(without_persons(table).to_pandas())
        with global_seed(seed_from(rng)):
            with blamed(self._who, "construction"):
                synthesizer = kind(_metadata(table.schema), **json.loads(str(self.parameters)))
            with blamed(self._who, "fit"):
                synthesizer.fit({TABLE: frame} if _wants_named_tables() else frame)
        return SdvModel(self._who, synthesizer, table.schema)

    @property
    def _who(self) -> str:
        return f"sdv {self.synthesizer}"

    def _kind(self) -> Any:
        try:
            from sdv import single_table
        except ImportError as problem:
            raise MissingExtraError(
                f"The generator 'sdv' needs SDV. Install it with: pip install sdv ({problem})\n"
                "If it cannot be installed beside unmask, run it from its own environment with 'command: ...'."
            ) from None
        if not hasattr(single_table, self.synthesizer):
            known = [name for name in dir(single_table) if name.endswith("Synthesizer")]
            raise ParameterError(f"sdv: there is no synthesizer '{self.synthesizer}'. There are: {quoted(known, 20)}.")
        return getattr(single_table, self.synthesizer)


@dataclass(frozen=True, eq=False)
class SdvModel:
    """A fitted synthesizer of SDV."""

    who: str
    synthesizer: Any
    schema: Schema
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        if rows == 0:
            return empty(self.schema)
        with global_seed(seed_from(rng)), blamed(self.who, "sampling"):
            _reseed(self.synthesizer, rng)
            sampled = self.synthesizer.sample(num_rows=rows)
        if isinstance(sampled, Mapping):
            if len(sampled) != 1:
                raise GeneratorError(f"{self.who} returned {len(sampled)} tables; one was asked for.")
            (sampled,) = sampled.values()
        return table_from(sampled, self.schema, rows, self.who)


def _wants_named_tables() -> bool:
    """Whether this SDV takes `fit({"table": frame})`, as from 2.0 on, instead of `fit(frame)`."""
    import sdv

    return int(sdv.__version__.split(".")[0]) >= 2


def _metadata(schema: Schema) -> Any:
    """What SDV wants to know about the columns; `Metadata` came with 1.17, `SingleTableMetadata` went with 2.0."""
    from sdv import metadata

    document = {
        "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        "columns": {column.name: _sdtype(column) for column in schema.columns},
    }
    if hasattr(metadata, "Metadata"):
        return metadata.Metadata.load_from_dict(document, TABLE)
    return metadata.SingleTableMetadata.load_from_dict(document)


def _sdtype(column: Column) -> dict[str, str]:
    if column.kind is Kind.CATEGORICAL:
        return {"sdtype": "categorical"}
    if column.kind is Kind.DATETIME:
        layout = column.format.replace(UNPADDED, "%")  # SDV writes leading zeros, which are read as well
        return {"sdtype": "datetime", **({"datetime_format": layout} if layout else {})}
    return {"sdtype": "numerical"}


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns in the types that SDV handles best: pandas' own categories, text and whole numbers become older ones."""
    plain = frame.copy()
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype | pd.BooleanDtype):
            plain[name] = frame[name].astype(object).where(frame[name].notna(), None)
        elif pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_numeric_dtype(dtype):
            plain[name] = frame[name].astype("float64")
    return plain


def _reseed(synthesizer: Any, rng: np.random.Generator) -> None:
    """Seed the model and the column transformers, which SDV starts from constants after every fit.

    Without this the missing values of every sample fall on the same rows.
    """
    if hasattr(synthesizer, "reset_sampling"):
        synthesizer.reset_sampling()
    if hasattr(synthesizer, "_set_random_state"):
        synthesizer._set_random_state(seed_from(rng))
    processor = getattr(synthesizer, "_data_processor", None)
    transformers = getattr(getattr(processor, "_hyper_transformer", None), "_transformers_sequence", ())
    for transformer in transformers:
        transformer.set_random_state(np.random.RandomState(seed_from(rng)), "reverse_transform")
