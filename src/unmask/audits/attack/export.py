"""Raw scores of an attack for other statistics than ours."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unmask.audits.attack.judges import Played, Scored
from unmask.files import write_atomically
from unmask.simulation.target import UTILITY_GAME
from unmask.utility.utility_game import UtilityGame


def export_scores(path: Path, played: Played, scored: Sequence[Scored], game: UtilityGame | None = None) -> None:
    """Scores of every attack on every release under attack, the answers, and the same of the attacker's own releases.

    The names of the arrays stand in docs/reference/scores.md.
    """
    arrays = {
        "attacks": np.array([attack.name for attack in scored], dtype=str),
        "rows": np.asarray(played.targets.rows),
        "groups": np.array(played.targets.groups, dtype=str),
        "confidence": np.array(played.confidence),
        "delta": np.array(played.delta),
    }
    for start, draws in (("", played.test), ("shadow_", played.shadow)):
        arrays |= {
            f"{start}members": draws.members,
            f"{start}secrets": draws.secrets,
            f"{start}active": draws.active,
            f"{start}fits": draws.fits,
        }
    for attack in scored:
        arrays[f"score/{attack.name}"] = attack.test
        if attack.shadow is not None:
            arrays[f"shadow_score/{attack.name}"] = attack.shadow
    if game is not None:
        raw = played.published
        arrays |= {
            "utility_rows": game.rows,
            "utility_right": played.test.scores[UTILITY_GAME],
            "raw_utility_right": raw.scores[UTILITY_GAME],
            "raw_members": raw.members,
            "raw_active": raw.active,
        }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    write_atomically(path, content.getvalue(), private=True)
