"""What a comparison says to a statistical office, in plain sentences. Nothing is claimed that its intervals do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.audits.compare.axes import PRIVACY, UTILITY, CompareAxis, Contrasts
from unmask.audits.compare.dominance import Dominance, Price, alike, dominated, prices
from unmask.audits.compare.losers import GroupLoss, TargetLoss
from unmask.results.figures import percent
from unmask.stats.results import Estimate
from unmask.threats.knowledge import Goal

Answer = tuple[str, str]  # the question, and what is said to it
MANY = 6  # names that one sentence lists


def short_answer(contrasts: Contrasts) -> Answer:
    """Who leads on each side, and whether anybody can be left out."""
    led = [f"{_most(axis)}: {_leaders(contrasts, axis)}." for axis in _headlines(contrasts)]
    clear = [each for each in dominated(contrasts) if each.clearly]
    out = ", ".join(f"{each.loser} (by {each.winner})" for each in clear[:MANY])
    if contrasts.on(PRIVACY) and contrasts.on(UTILITY):
        led.append(f"Clearly dominated: {out}." if out else "No mechanism is clearly dominated.")
    return "In short", " ".join(led)


def _headlines(contrasts: Contrasts) -> list[CompareAxis]:
    return [axes[0] for side in (PRIVACY, UTILITY) if (axes := contrasts.on(side))]


def _most(axis: CompareAxis) -> str:
    return "Hides most" if axis.side == PRIVACY else "Keeps most"


def _leaders(contrasts: Contrasts, axis: CompareAxis) -> str:
    """The one with the highest value, and those that it cannot be told from."""
    best = max(contrasts.names, key=lambda name: axis.of[name].value)
    same = [name for name in contrasts.names if name != best and contrasts.get(axis, best, name).sign == 0]
    told = f"{best} ({axis.title} {signed(axis.of[best])})"
    return f"{told}, not told apart from {_listed(same)}" if same else told


def dominance_answers(contrasts: Contrasts) -> Iterator[Answer]:
    """Every mechanism that another one beats, and those that nothing tells apart."""
    if not (contrasts.on(PRIVACY) and contrasts.on(UTILITY)):
        return
    question = "Which are dominated?"
    found = dominated(contrasts)
    if not found:
        yield question, "None: of every two, each is better at something, or nothing tells them apart."
    for each in found:
        yield question, _beaten(contrasts, each)
    if pairs := alike(contrasts):
        listed = "; ".join(f"{one} and {other}" for one, other in pairs[:MANY])
        more = f"; and {len(pairs) - MANY} more pairs" if len(pairs) > MANY else ""
        yield "Which are not told apart?", f"In nothing that was measured: {listed}{more}. That is no proof that they are alike."


def _beaten(contrasts: Contrasts, each: Dominance) -> str:
    wins = "; ".join(f"{win.axis.title} by {signed(win.estimate)}" for win in each.wins)
    if each.clearly:
        return f"{each.loser} is clearly dominated by {each.winner}, which is better in: {wins}."
    won = {win.axis.name for win in each.wins}
    rest = [axis for axis in contrasts.axes if axis.name not in won]
    at_most = ", ".join(
        f"{axis.title} (by at most {max(0.0, contrasts.get(axis, each.loser, each.winner).estimate.high):.2f})" for axis in rest
    )
    return (
        f"{each.loser} may be dominated by {each.winner}, which is better in: {wins}. In the rest they are not told apart; "
        f"{each.loser} may still be better in {at_most}."
    )


def price_answers(contrasts: Contrasts) -> Iterator[Answer]:
    """What a step along the front costs, on every axis of utility."""
    question = "What does more privacy cost here?"
    if not contrasts.on(PRIVACY):
        return
    across = contrasts.on(PRIVACY)[0]
    for up in contrasts.on(UTILITY):
        steps = prices(contrasts, across, up)
        for step in steps:
            yield question, _price(step, up)
        if not steps:
            only = max(contrasts.names, key=lambda name: across.of[name].value)
            yield question, f"Nothing, in {up.title}: by the values {only} hides most and keeps most."


def _price(step: Price, up: CompareAxis) -> str:
    told = (
        f"From {step.start} to {step.end} the privacy gain rises by {signed(step.privacy)}, and {up.title} fall by "
        f"{signed(step.utility)}"
    )
    if step.per_tenth is None:
        return f"{told}. The step in privacy may be none, so that no price can be named."
    value, low, high = step.per_tenth
    return f"{told}: {value:.3f} ({low:.3f} to {high:.3f}) for each tenth of privacy gain."


def target_answers(losses: Sequence[TargetLoss]) -> Iterator[Answer]:
    """Which targets pay, mechanism by mechanism."""
    for each in losses:
        what = "presence" if each.goal is Goal.MEMBERSHIP else "secret"
        exposed = (
            f"the {what} of {each.exposed} of {each.targets} targets is told better than by chance"
            if each.exposed
            else f"of no target is the {what} surely told better than by chance"
        )
        groups = "; ".join(f"{name} targets {signed(gain)}" for name, gain in each.by_group)
        parted = f" Privacy gain by kind: {groups}." if len(each.by_group) > 1 else ""
        yield (
            "Who loses?",
            f"Under {each.name} {exposed}; the least privacy gain of a target is {signed(each.least)}.{parted}",
        )


def group_answers(losses: Sequence[GroupLoss]) -> Iterator[Answer]:
    """Which group of people is served worst, mechanism by mechanism, where that is sure."""
    for each in losses:
        if each.worst is None:
            yield "Who loses?", f"Under {each.name} no group of people surely loses more than a fresh sample of people would."
        else:
            yield (
                "Who loses?",
                f"Under {each.name} the columns of {each.worst} ({each.people:,} people) lose most: {signed(each.loss)} of their "
                "marginals beyond what a fresh sample of people loses.",
            )


def certainty_answer(contrasts: Contrasts, units: Sequence[str], joint: bool) -> Answer:
    """What holds together, and what is independent."""
    losers = " So do, apart from them, the statements on targets and those on groups." if joint else ""
    return (
        "How sure is this?",
        f"All {contrasts.count} differences between mechanisms hold together with {percent(contrasts.confidence)} confidence "
        f"(Bonferroni); they are taken within draws, since all mechanisms had the same tables, targets and coins.{losers} Intervals in "
        f"tables and charts each hold for themselves. What is independent: {'; '.join(units)}. The population is taken as given.",
    )


def signed(found: Estimate) -> str:
    """A number with its interval, two digits."""
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    return f"{', '.join(names[:MANY])}{more}"
