"""What to do next: for every verdict and verb, what to try first, and the command that audits again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.results.grid import Grid, GridKind, Role, Section
from unmask.results.result import Result
from unmask.results.state import DOUBT, NO_HOLDOUT, State, reasons_of
from unmask.results.verdict import OF_A_RELEASE, kind, of_files, worst_of

FIRST = 3  # columns and groups that are named
IDENTIFIER = "identifier:"  # what the names of findings about texts that name people begin with
HELD = "the release holds"  # what is said of columns that no attack looked at if the release has them
SECRETS = ("inferring ", "everyone/attribute/")  # what the names of findings about a column begin with
GROWING = {"attack": "tests", "everyone": "runs", "epsilon": "runs"}  # what makes an audit of a generator see more
MORE = 4  # times as many: an interval half as wide

OWN = "unmask audit real.csv synthetic.csv --holdout holdout.csv --out audit"
AGAIN = {
    True: "Make the release anew, and audit it again:",
    False: "Then audit again:",
}  # whether it is about one release
EVERYBODY = "unmask everyone real.csv --generator NAME --out everyone"
RELEASES = "unmask compare real.csv --releases releases/ --out before"
USUAL = {
    "compare": "unmask compare population.csv --generators raw cart privbayes:epsilon=1 --out before",
    "attack": "unmask attack population.csv --generator {} --out before",
    "everyone": "unmask everyone real.csv --generator {} --out before",
    "epsilon": "unmask epsilon --generator {} --out before",
}


@dataclass(frozen=True)
class NextStep:
    """Something to do, and the command for it if there is one."""

    text: str
    command: str = ""


def next_steps(result: Result, run: Mapping[str, Any] | None = None) -> tuple[NextStep, ...]:
    """What to do after this verdict, in order. The result must be fit for sharing; `run` is what run.json holds."""
    words = _command(result, run or {})
    state, release = result.state, result.audit in OF_A_RELEASE
    steps: list[NextStep] = []
    if result.failed_tasks:
        steps.append(
            NextStep(
                "Some tasks failed: the notes say why. The same command repeats them and keeps the others.",
                shlex.join(words),
            )
        )
    if any(HELD in line for line in result.facts.left_out):
        steps.append(
            NextStep("The release has columns that identify people (above). Take them out, unless it needs them.")
        )
    if result.audit == "compare":
        return (*steps, *(_after_releases(words) if of_files(result) else _after_a_comparison(words)))
    if result.audit == "demo" or state is None:
        return (
            *steps,
            NextStep("Audit a release of your own, with people whom the generator never saw as holdout:", OWN),
        )
    if state is State.LEAK:
        steps += _after_a_leak(result)
    elif state is State.CONFOUNDED:
        steps.append(NextStep(next(one.advice for one in result.findings if one.name == DOUBT)))
    elif state is State.INCONCLUSIVE:
        return (*steps, *_for_an_answer(result, words, run))
    else:
        steps.append(
            NextStep(
                "Weigh what this cannot show, decide, fill in the record at the end, and keep it with the release."
            )
        )
        if release:
            steps.append(
                NextStep(
                    "If you can run the generator, look at the risk of each person:",
                    EVERYBODY,
                )
            )
    then = "Audit again when anything has changed:" if state is State.NONE else AGAIN[release and state is State.LEAK]
    return (*steps, NextStep(then, shlex.join(_elsewhere(words))), *_side_by_side(words, run))


def _after_a_comparison(words: Sequence[str]) -> tuple[NextStep, ...]:
    more = shlex.join([*words, "--generator", "NAME"])
    return (
        NextStep("Choose among those that nothing dominates, by what you need and whom you must protect."),
        NextStep("Another mechanism joins the same run; what is drawn is kept:", more),
        NextStep("Then make the release, and audit the very file that is to be published:", OWN),
    )


def _after_releases(words: Sequence[str]) -> tuple[NextStep, ...]:
    again = words if "--releases" in words else shlex.split(RELEASES)
    return (
        NextStep("What these releases hide was not measured. Audit the one that is to be published:", OWN),
        NextStep(
            "To compare another release, put another file into the folder and repeat:", shlex.join(_elsewhere(again))
        ),
    )


def _after_a_leak(result: Result) -> list[NextStep]:
    worst = worst_of(result.leaks)
    if kind(worst) == "dp claim" or result.audit == "reconstruct":
        return [NextStep(worst.advice)]
    named = [leak.name.removeprefix(IDENTIFIER) for leak in result.leaks if leak.name.startswith(IDENTIFIER)]
    if len(named) == len(result.leaks):
        return [NextStep(f"Take the columns out of the release that name people: {', '.join(named)}.")]
    first = "; ".join(
        part for part in (_listed("columns", columns_of(result)), _listed("groups", groups_of(result))) if part
    )
    what = "these" if first else "what makes people stand out: rare values, exact numbers, dates"
    steps = [NextStep(f"Begin with {first}.")] if first else []
    return [
        *steps,
        NextStep(
            f"Drop or coarsen {what}; or use another generator, a differentially private one, or a smaller budget (epsilon)."
        ),
    ]


def _for_an_answer(result: Result, words: Sequence[str], run: Mapping[str, Any] | None) -> list[NextStep]:
    """What an audit needs that could not see enough."""
    if grown := GROWING.get(result.audit):
        planned = result.plan.get(grown)
        times = [f"--{grown}", str(MORE * planned)] if isinstance(planned, int) else [f"--{grown}", "1000"]
        return [
            NextStep(
                f"Play more {grown}; what is drawn already is kept:",
                shlex.join([*_without(words, f"--{grown}"), *times]),
            )
        ]
    reasons = reasons_of(result)
    if NO_HOLDOUT in reasons:
        return [
            NextStep(
                "Cut a holdout off before training, say one person in five at random: the generator must never see them. "
                "Make the release anew from the others, and audit it again:",
                shlex.join([*_elsewhere(_without(words, "--holdout")), "--holdout", "holdout.csv"]),
            ),
            *_side_by_side(words, run),
        ]
    if any("time budget" in reason for reason in reasons):
        return [
            NextStep("Audit again without a time budget:", shlex.join(_elsewhere(_without(words, "--time-budget"))))
        ]
    return [
        NextStep("Use a larger holdout: hundreds of people, as many as the real table has if possible. Then audit again:",
             shlex.join(_elsewhere(words))),
        *_side_by_side(words, run),
    ]  # fmt: skip


def columns_of(result: Result) -> list[str]:
    """The columns whose values are given away, the clearest first."""
    found = sorted(result.leaks, key=lambda leak: (-leak.severity.rank, -leak.estimate.low))
    names = [leak.name.removeprefix(start) for leak in found for start in SECRETS if leak.name.startswith(start)]
    return list(dict.fromkeys(name.partition(",")[0] for name in names))


def groups_of(result: Result) -> list[str]:
    """The groups that are worst off, if their names are public."""
    if all(item.schema != "public" for item in result.inputs):
        return []
    found = [each for grid in result.grids if _is_of_risk(grid) for each in _groups(grid)]
    return list(dict.fromkeys(name for _, name in sorted(found, key=lambda one: -one[0])))


def _is_of_risk(grid: Grid) -> bool:
    return grid.kind is GridKind.GROUPS and grid.section is not Section.UTILITY


def _groups(grid: Grid) -> list[tuple[float, str]]:
    lows = grid.places(Role.LOW) or tuple(place for place, head in enumerate(grid.columns) if head == "low")
    by, group = grid.places(Role.BY), grid.places(Role.GROUP)
    if not (lows and by and group):
        return []
    rows = [(row[lows[0]], f"{row[by[-1]]} {row[group[0]]}") for row in grid.rows]
    return [(float(low), name) for low, name in rows if isinstance(low, int | float) and low > 0]


def _listed(what: str, names: Sequence[str]) -> str:
    return f"the {what} {', '.join(names[:FIRST])}" if names else ""


def _command(result: Result, run: Mapping[str, Any]) -> list[str]:
    """The command of the run, or one like it."""
    command = run.get("command")
    if isinstance(command, list) and len(command) > 1 and all(isinstance(word, str) for word in command):
        return command
    generator = str(result.plan.get("generator") or "NAME")
    usual = USUAL.get(result.audit)
    return [word.format(generator) for word in shlex.split(usual)] if usual else [*shlex.split(OWN)[:-1], "before"]


def _out(words: Sequence[str]) -> str:
    """The directory of a command; empty if it names none."""
    for place, word in enumerate(words):
        if word == "--out" and place + 1 < len(words):
            return words[place + 1]
        if word.startswith("--out="):
            return word.removeprefix("--out=")
    return ""


def _after(words: Sequence[str]) -> str:
    """A directory for the next run: one of the same name with the next number."""
    before = _out(words).rstrip("/\\")
    if not before:
        return "after"
    numbered = re.fullmatch(r"(.*)-(\d{1,4})", before, re.DOTALL)
    return f"{numbered[1]}-{int(numbered[2]) + 1}" if numbered else f"{before}-2"


def _elsewhere(words: Sequence[str]) -> list[str]:
    return [*_without(words, "--out"), "--out", _after(words)]


def _without(words: Sequence[str], option: str) -> list[str]:
    """A command without an option and its value."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word.startswith(f"{option}="):
            skip = False
        elif word == option:
            skip = True
        else:
            kept.append(word)
    return kept


def _side_by_side(words: Sequence[str], run: Mapping[str, Any] | None) -> tuple[NextStep, ...]:
    """The comparison with the next run, if this one was kept."""
    if not run or run.get("command") != words or not (before := _out(words)):
        return ()
    return (NextStep("Then see what has changed:", shlex.join(["unmask", "report", before, _after(words)])),)
