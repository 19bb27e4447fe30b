"""What every kind of draw does with a release: look whether it is one, and what its model shows."""

from __future__ import annotations

import numpy as np

from unmask.errors import GeneratorError
from unmask.generators._generator import Model
from unmask.simulation.task import Task
from unmask.tables.table import Table
from unmask.threats.view import FittedModel


def release_words(task: Task, releases: int) -> tuple[tuple[str, ...], ...]:
    """The words of the random streams of each release of a fit: those of the task itself for the first."""
    return tuple((task.id, f"release{place}") if place else (task.id,) for place in range(releases))


def release_name(place: int) -> str:
    """What the names of arrays about one release of a fit begin with: nothing for the first."""
    return f"release{place}/" if place else ""


def fitted_model(model: Model) -> FittedModel:
    """What a white-box attacker sees of a model."""
    return FittedModel(
        log_likelihood=getattr(model, "log_likelihood", None),
        measurements=tuple(getattr(model, "measurements", ())),
        losses=getattr(model, "losses", None),
        diffusion_steps=getattr(model, "diffusion_steps", 0),
        discriminator_score=getattr(model, "discriminator_score", None),
    )


def check_release(synthetic: Table, like: Table, rows: int | None = None, *, row_level: bool = False) -> None:
    """A generator must return the columns it was given, as many rows as asked for (None: any), and no stray missing values."""
    if synthetic.schema.names != like.schema.names:
        extra = [name for name in synthetic.schema.names if name not in like.schema.names]
        gone = [name for name in like.schema.names if name not in synthetic.schema.names]
        raise GeneratorError(f"The generator returned other columns: missing {gone}, new {extra}.")
    if synthetic.schema != like.schema:
        raise GeneratorError(
            "The generator returned a table under another schema. Encode it against the schema it was given."
        )
    if rows is not None and not row_level and len(synthetic) != rows:
        raise GeneratorError(f"The generator returned {len(synthetic):,} rows where {rows:,} were asked for.")
    for place, position in enumerate(like.schema.numeric):
        column = like.schema.columns[position]
        if not column.missing and np.isnan(synthetic.numbers[:, place]).any():
            raise GeneratorError(
                f"The generator returned missing values in '{column.name}', which the schema does not allow."
            )
