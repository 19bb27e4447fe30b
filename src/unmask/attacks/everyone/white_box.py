"""What a fitted model itself says about every row, for an attacker who holds the model."""

from __future__ import annotations

import numpy as np

from unmask.generators._generator import Measurement
from unmask.tables.table import Table
from unmask.threats.view import FittedModel

LIKELIHOOD, MEASURED = "likelihood", "measured"
GAUSSIAN, LAPLACE = "gaussian", "laplace"


LOSS_STEPS, LOSS_DRAWS = (
    (0.05, 0.1, 0.2, 0.3),
    1,
)  # of a diffusion model: shares of its steps, times that it is asked about each


def white_box(model: FittedModel | None, rows: Table) -> np.ndarray:
    """Rows x 2: how likely the model holds each row, and the evidence of the noisy measurements; 0 where it offers neither.

    A model without likelihoods is asked what it has in their place: a diffusion model its denoising loss, a GAN the score of
    its critic.
    """
    found = np.zeros((len(rows), 2))
    if model is None:
        return found
    if model.log_likelihood is not None:
        logs = np.asarray(model.log_likelihood(rows), dtype=np.float64)
        possible = logs[np.isfinite(logs)]
        # What the model holds impossible is a little less likely than the least likely other row.
        found[:, 0] = np.where(np.isfinite(logs), logs, possible.min(initial=0.0) - 1.0)
    elif model.losses is not None:
        found[:, 0] = -_loss(model, rows)
    elif model.discriminator_score is not None:
        found[:, 0] = model.discriminator_score(rows)
    for measured in model.measurements:
        found[:, 1] += _evidence(measured, rows)
    return found


def _loss(model: FittedModel, rows: Table) -> np.ndarray:
    """How many deviations the loss of each row lies above that of all rows, mean over steps; the same noise in every run."""
    if model.losses is None:
        return np.zeros(len(rows))
    rng = np.random.default_rng(0)
    steps = sorted({int(share * model.diffusion_steps) for share in LOSS_STEPS})
    drawn = np.mean([model.losses(rows, steps, rng) for _ in range(LOSS_DRAWS)], axis=0)
    return np.asarray(((drawn - drawn.mean(axis=0)) / (drawn.std(axis=0) + 1e-9)).mean(axis=1))


def _evidence(measured: Measurement, rows: Table) -> np.ndarray:
    """How far the noisy count of each row's cell lies above what half of the others would give, by its variance.

    That is the log-likelihood ratio of "one more in this cell", up to a factor, if counts are nearly normal: the others
    in the cell are in with one half each.
    """
    codes = [rows.codes[:, position].astype(np.int64) for position in measured.columns]
    if measured.cells:
        codes = [cells[code] for cells, code in zip(measured.cells, codes, strict=True)]
    cell = np.ravel_multi_index(tuple(codes), measured.counts.shape, mode="clip")
    others = np.bincount(cell, minlength=measured.counts.size)[cell] - 1
    noise = {GAUSSIAN: measured.scale**2, LAPLACE: 2 * measured.scale**2}.get(measured.noise, 0.0)
    return np.asarray((measured.counts.ravel()[cell] - others / 2) / (others / 4 + noise + 0.25))
