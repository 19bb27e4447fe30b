"""What a game means in plain words, and what a claim allows in it."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.errors import ParameterError
from unmask.generators.claim import Claim, Neighbours
from unmask.stats import largest_advantage, largest_auc, replacement_claim
from unmask.threats.game import Game
from unmask.threats.knowledge import Box, Data, Goal, Placement, SecretValues

_DATA = {
    Data.AUXILIARY: "knows other people of the same population",
    Data.EXACT: "knows everyone in the real table but the targets",
    Data.NONE: "knows nobody and makes stand-ins from the release",
}
_BOX = {
    Box.NO: "does not know the generator",
    Box.BLACK: "can run the generator on tables of their own",
    Box.UNCERTAIN: "can run the generator but is unsure of its parameters",
    Box.WHITE: "can run the generator and sees the fitted model",
}


def threat_in_words(game: Game) -> str:
    """Who attacks, what they know, and what they want, in one sentence."""
    if game.goal is Goal.MEMBERSHIP:
        want = "wants to know whether a person was in the real table"
    else:
        drawn = " (drawn anew for each release)" if game.secret_values is SecretValues.UNIFORM else ""
        want = f"knows everything about a person but '{game.secret}'{drawn} and wants to know that"
    return f"Someone who holds the release, {_DATA[game.data]}, {_BOX[game.box]}, {want}."


@dataclass(frozen=True)
class Limit:
    """What a claim allows any attack."""

    advantage: float
    auc: float


def limit_for(claim: Claim | None, game: Game) -> Limit | None:
    """The most that a claim allows in this game; None if there is none, it is void, or it is about other neighbours.

    The replacing game compares tables of one size, the appending one tables that differ by one row. An add/remove claim
    covers a replacement as two steps; a replace-one claim says nothing about a row that comes on top.
    """
    if (promised := _promise_in(claim, game)) is None:
        return None
    epsilon, delta = promised[0], min(promised[1], 1 - 1e-12)
    return Limit(min(1.0, largest_advantage(epsilon, delta)), min(1.0, largest_auc(epsilon, delta)))


def epsilon_allowed(claim: Claim | None, game: Game, delta: float) -> float | None:
    """The epsilon that a claim allows in this game at a delta; None if nothing follows from it there.

    An add/remove claim of (epsilon, delta) allows a replacement 2 epsilon at (1 + e^epsilon) delta, and at no smaller delta.
    """
    promised = _promise_in(claim, game)
    return promised[0] if promised is not None and promised[1] <= delta else None


def _promise_in(claim: Claim | None, game: Game) -> tuple[float, float] | None:
    """Epsilon and delta of a claim for the neighbours that this game plays with."""
    if claim is None or claim.void or game.goal is not Goal.MEMBERSHIP:
        return None
    if game.placement is Placement.REPLACE:
        own = claim.neighbours is Neighbours.REPLACE
        return (claim.epsilon, claim.delta) if own else replacement_claim(claim.epsilon, claim.delta)
    return None if claim.neighbours is Neighbours.REPLACE else (claim.epsilon, claim.delta)


def delta_for(asked: float | None, claim: Claim | None) -> float:
    """The delta at which epsilon is bounded: as asked for, else the claim's own, which is the least that makes sense."""
    own = 0.0 if claim is None else claim.delta
    if asked is None:
        return own
    if asked < own:
        raise ParameterError(
            f"--delta is {asked:g}, and the generator claims a delta of {own:g}: below that its epsilon may be infinite, and no "
            "bound says anything about the claim.\nUse a --delta that is no smaller, or none."
        )
    return asked


def claim_in_words(claim: Claim | None, limit: Limit | None) -> tuple[str, ...]:
    """What the generator claims, and what that means in this game."""
    if claim is None:
        return ()
    said = f"The generator claims: {claim}."
    if limit is not None:
        return (
            said,
            f"Under this claim no attack in this game can have an advantage above {limit.advantage:.4f} "
            f"or an AUC above {limit.auc:.4f}.",
        )
    if claim.void:
        return (said,)
    return said, "The claim is about other neighbours than this game plays with, so no limit follows from it."
