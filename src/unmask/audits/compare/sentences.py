"""What a comparison says to a statistical office, in plain sentences. Nothing is claimed that its intervals do not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from unmask.audits.compare.axes import PRIVACY, UTILITY, CompareAxis, Contrasts, mean_of, opposite, score_title
from unmask.audits.compare.dominance import Dominance, Price, alike, dominated, front, price, unproven
from unmask.audits.compare.losers import GroupLoss, TargetLoss
from unmask.audits.compare.measures import LABEL
from unmask.audits.compare.published import Published
from unmask.results.figures import percent
from unmask.stats.results import Estimate
from unmask.threats.knowledge import Goal

Answer = tuple[str, str]  # the question, and what is said to it
MANY = 6  # names that one sentence lists


def empty_words(published: Published) -> list[str]:
    """Who published nothing, and how often."""
    told = []
    for name, (none, every) in published.empty.items():
        so = ", so it is compared in nothing" if name in published.silent else ""
        told += [f"{name} published no rows in {none:,} of {every:,} releases{so}."] if none else []
    return told


def short_answer(contrasts: Contrasts, first: Sequence[str] = ()) -> Answer:
    """What comes first, who leads on each side, and whether anybody can be left out."""
    if len(contrasts.names) < 2:
        return "In short", " ".join(
            [*first, f"Only {contrasts.names[0]} is left: there is nothing to compare it with."]
        )
    led = [f"Best in {axis.title}: {_leaders(contrasts, axis)}." for axis in _headlines(contrasts)]
    clear = [each for each in dominated(contrasts) if each.clearly]
    out = ", ".join(f"{each.loser} (by {each.winner})" for each in clear[:MANY])
    if contrasts.on(PRIVACY) and contrasts.on(UTILITY):
        led.append(f"Clearly dominated: {out}." if out else "No mechanism is clearly dominated.")
    return "In short", " ".join([*first, *led])


def _headlines(contrasts: Contrasts) -> list[CompareAxis]:
    return [axes[0] for side in (PRIVACY, UTILITY) if (axes := contrasts.on(side))]


def _leaders(contrasts: Contrasts, axis: CompareAxis) -> str:
    """The one with the highest value, and those that it cannot be told from."""
    best = max(contrasts.names, key=lambda name: axis.of[name].value)
    same = [name for name in contrasts.names if name != best and contrasts.get(axis, best, name).sign == 0]
    return f"{best}, not told apart from {_listed(same)}" if same else best


def dominance_answers(contrasts: Contrasts) -> Iterator[Answer]:
    """Every mechanism that another one beats, those that nothing tells apart, and those that may hide nothing."""
    if len(contrasts.names) < 2 or not (contrasts.on(PRIVACY) and contrasts.on(UTILITY)):
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
        yield (
            "Which are not told apart?",
            f"In nothing that was measured: {listed}{more}. That is no proof that they are alike.",
        )
    for name, raw in unproven(contrasts):
        axis = contrasts.on(PRIVACY)[0]
        gain = signed(contrasts.get(axis, name, raw).estimate)
        yield (
            "Which may hide nothing?",
            f"{name}: its {axis.title} is {gain} above that of {raw}, the real table itself. Too few --tests to tell.",
        )


def _beaten(contrasts: Contrasts, each: Dominance) -> str:
    wins = "; ".join(f"{win.axis.title} by {signed(win.estimate)}" for win in each.wins)
    if each.clearly:
        return f"{each.loser} is clearly dominated by {each.winner}, which is better in: {wins}."
    won = {win.axis.name for win in each.wins}
    rest = [axis for axis in contrasts.axes if axis.name not in won]
    ahead = [lead for axis in rest if (lead := contrasts.get(axis, each.loser, each.winner)).estimate.value > 0]
    if ahead:
        seems = "; ".join(f"{lead.axis.title} by {signed(lead.estimate)}" for lead in ahead)
        return (
            f"Whether {each.loser} is dominated by {each.winner} cannot be told with so few draws (--tests, --repeats). "
            f"Better is {each.winner} in: {wins}. By the values {each.loser} is better in: {seems}."
        )
    at_most = ", ".join(
        f"{axis.title} (by at most {max(0.0, contrasts.get(axis, each.loser, each.winner).estimate.high):.2f})"
        for axis in rest
    )
    return (
        f"{each.loser} may be dominated by {each.winner}, which is better in: {wins}. In the rest they are not told apart; "
        f"{each.loser} may still be better in {at_most}."
    )


def price_answers(contrasts: Contrasts) -> Iterator[Answer]:
    """What a step along the front costs, in every measure of utility; the front is that of the first."""
    question = "What does more privacy cost here?"
    if len(contrasts.names) < 2 or not contrasts.on(PRIVACY):
        return
    across, ups = contrasts.on(PRIVACY)[0], contrasts.on(UTILITY)
    along = front(across, ups[0], contrasts.names)
    for start, end in pairwise(along):
        yield question, _price([price(contrasts, (across, up), start, end) for up in ups], ups)
    if len(along) == 1:
        yield question, f"Nothing, in {ups[0].title}: by the values {along[0]} hides most and keeps most."


def _price(steps: Sequence[Price], ups: Sequence[CompareAxis]) -> str:
    first = steps[0]
    paid = [
        f"{signed(step.utility)} in {up.title}" for step, up in zip(steps, ups, strict=True) if step.utility.value >= 0
    ]
    won = [
        f"{signed(opposite(step.utility))} in {up.title}"
        for step, up in zip(steps, ups, strict=True)
        if step.utility.value < 0
    ]
    both = [f"the price is {' and '.join(paid)}"] * bool(paid) + [f"it gains {' and '.join(won)}"] * bool(won)
    told = (
        f"From {first.start} to {first.end} the privacy gain rises by {signed(first.privacy)}; {', and '.join(both)}."
    )
    if first.per_tenth is None:
        return f"{told} The step in privacy may be none, so that no rate can be named."
    rates = [step.per_tenth for step in steps if step.per_tenth is not None and step.utility.value >= 0]
    if not rates:
        return told
    tenth = " and ".join(f"{_digits(value, 3)} ({_digits(low, 3)} to {_digits(high, 3)})" for value, low, high in rates)
    return f"{told} For each tenth of privacy gain that is {tenth}."


def teaching_answers(
    published: Published, names: Sequence[str], label: str | None, confidence: float
) -> Iterator[Answer]:
    """Whose releases teach no more about the label than its most frequent answer does; intervals hold together."""
    if not published.has(LABEL):
        return
    strict = 1 - (1 - confidence) / max(1, len(names))
    over = {name: mean_of(published.of(name, LABEL) - published.label[:, 0], strict) for name in names}
    dummy = "the mean" if published.is_number else "the most frequent answer"
    for name, found in over.items():
        if found.low <= 0:
            how = "surely below" if found.high < 0 else "not surely above"
            yield (
                "Which teach nothing?",
                f"{name}: after training on its releases the {score_title(published, label)} is {how} that of the dummy "
                f"({dummy}); the difference is {signed(found)}.",
            )


def loser_answers(targets: Sequence[TargetLoss], groups: Sequence[GroupLoss]) -> Iterator[Answer]:
    """Which targets and which groups pay, mechanism by mechanism."""
    for name in dict.fromkeys(each.name for each in targets):
        told = [_of_targets(each) for each in targets if each.name == name]
        told += [_of_groups(each) for each in groups if each.name == name]
        yield "Who loses?", f"{name}: {' '.join(told)}"


def _of_targets(each: TargetLoss) -> str:
    what = "presence" if each.goal is Goal.MEMBERSHIP else "secret"
    exposed = (
        f"The {what} of {each.exposed} of {each.targets} targets is surely told better than by chance"
        if each.exposed
        else f"Of no target is the {what} surely told better than by chance"
    )
    kinds = ", ".join(f"{name} {signed(gain)}" for name, gain in each.by_group)
    parted = f"; privacy gain by kind of target: {kinds}" if len(each.by_group) > 1 else ""
    return f"{exposed}; the least privacy gain is {signed(each.least)}{parted}."


def _of_groups(each: GroupLoss) -> str:
    if each.worst is None:
        return "No group of people surely loses more of its columns than a fresh sample would."
    return (
        f"The group that surely loses most of its columns is {each.worst} ({each.people:,} people): {signed(each.loss)} beyond a "
        "fresh sample."
    )


def certainty_answer(contrasts: Contrasts, units: Sequence[str], joint: bool) -> Answer:
    """What holds together, and what is independent."""
    losers = " So do, apart from them, the statements on targets and those on groups." if joint else ""
    return (
        "How sure is this?",
        f"All {contrasts.count} differences between mechanisms hold together with {percent(contrasts.confidence)} confidence "
        f"(Bonferroni); they are taken within draws, since all mechanisms had the same tables, targets and coins.{losers} "
        f"Intervals in tables and charts each hold for themselves. What is independent: {'; '.join(units)}. The population is "
        "taken as given.",
    )


def signed(found: Estimate) -> str:
    """A number with its interval, two digits."""
    return f"{_digits(found.value)} ({_digits(found.low)} to {_digits(found.high)})"


def _digits(value: float, places: int = 2) -> str:
    return f"{round(value, places) + 0.0:.{places}f}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    return f"{', '.join(names[:MANY])}{more}"
