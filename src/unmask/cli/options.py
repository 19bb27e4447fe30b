"""Options and arguments that several verbs share, and those that are made from a plan."""

from __future__ import annotations

import math
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.outputs import OutputFile, RunFolder

if TYPE_CHECKING:
    from unmask.audits.plan import Choice, Plan

PATH = click.Path(path_type=Path)
FAIL_ON = ("none", "inconclusive", "low", "medium", "high")


class TableArgument(click.Argument):
    """A table that a verb is about; `verb` prints what is told of it."""

    told: str = ""


def table(name: str, told: str, *, many: bool = False, required: bool = True, metavar: str = "") -> TableArgument:
    argument = TableArgument([name], type=PATH, nargs=-1 if many else 1, required=required, metavar=metavar or None)
    argument.told = told
    return argument


def real() -> TableArgument:
    return table("real", "The real table: CSV, TSV (also .gz) or Parquet.")


def schema() -> click.Option:
    return click.Option(
        ["--schema"], type=PATH, help="Schema file (unmask, SDV, TAPAS); inferred from the data when absent."
    )


def quiet() -> click.Option:
    return click.Option(["--quiet"], is_flag=True, help="Print nothing but errors.")


def as_json() -> click.Option:
    return click.Option(["--json", "as_json"], is_flag=True, help="Print the result as JSON for other programs.")


def written_to(what: str) -> click.Option:
    return click.Option(["-o", "--out"], type=OutputFile("table"), required=True, help=what)


def of_a_run(within: str, out: str = "") -> list[click.Parameter]:
    """What every audit takes: nothing of it changes a number. `within` says what a time budget means, `out` where files go."""
    return [
        schema(),
        click.Option(["--workers"], type=int, help="Threads or processes to use. [default: all cores]"),
        click.Option(
            ["--time-budget"], callback=_seconds, metavar="TIME",
            help=f"About how long it may take: 90s, 10m or 1h. {within} [default: no limit]",
        ),
        click.Option(
            ["--out"], type=RunFolder(), default=Path(out) if out else None, show_default=bool(out),
            help="Directory for report.html, result.json and companions.",
        ),
        click.Option(["--plan", "plan_file"], type=PATH, help="Read choices from a plan file; options change them."),
        click.Option(["--write-plan"], type=OutputFile("plan"), help="Write the choices to a plan file and stop."),
        click.Option(
            ["--fail-on"], type=click.Choice(FAIL_ON), default="high", show_default=True,
            help="Exit with 1 from this severity on; inconclusive: with 1 for any leak, with 5 if there is no answer.",
        ),
        as_json(),
        quiet(),
    ]  # fmt: skip


def of_draws() -> list[click.Parameter]:
    """For audits whose draws others may take over; nothing of it changes a number either."""
    return [
        click.Option(
            ["--cluster"], metavar="shared|ADDRESS|dask",
            help="shared: together with every `unmask work` on --out, on any machine that sees it. tcp://HOST:PORT: on a dask "
            "cluster; dask: on the one in $DASK_SCHEDULER_ADDRESS. [default: this machine alone]",
        ),
        click.Option(["--prepare"], is_flag=True, help="Write what `unmask work` needs into --out, and stop."),
        click.Option(
            ["--share-with-group"], is_flag=True,
            help="Draws in --out are for your group too; else for you alone. They say who is in which table.",
        ),
    ]  # fmt: skip


def _seconds(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """Seconds from a text such as 90s, 10m or 1h; a bare number is seconds."""
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in ("s", "m", "h") else (text, "s")
    try:
        seconds = float(number) * {"s": 1, "m": 60, "h": 3600}[unit]
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise click.BadParameter(f"'{text}' is no duration; write 90s, 10m or 1h", ctx, param)
    return seconds


def of_plan(plan: type[Plan]) -> list[click.Option]:
    """An option for every choice of a plan; one that is not given is None, so that a plan file can have its say."""
    from unmask.audits.plan import choices_of

    return [_option(choice) for choice in choices_of(plan)]


def chosen(plan: type[Plan], given: dict[str, Any]) -> dict[str, Any]:
    """What was given of the choices of a plan, taken out of all that was given."""
    from unmask.audits.plan import choices_of

    found = {choice.name: given.pop(choice.name) for choice in choices_of(plan)}
    return {name: value for name, value in found.items() if value not in (None, ())}


def _option(choice: Choice) -> click.Option:
    told, name = choice.option, f"--{choice.name.replace('_', '-')}"
    names = [*told.names, name]
    if choice.kind is bool:
        declared = [f"{name}/{told.off or '--no-' + name.removeprefix('--')}"]
        return click.Option([choice.name, *declared], default=None, help=_help(choice))
    kind = {int: click.INT, float: click.FLOAT}.get(choice.kind, click.STRING)
    return click.Option(
        [choice.name, *names],
        type=kind,
        multiple=choice.many,
        default=None,
        metavar=told.metavar or None,
        help=_help(choice),
    )


def _help(choice: Choice) -> str:
    text, default = choice.help, choice.default
    if choice.kind is bool:
        return f"{text} [default: {'yes' if default else 'no'}]"
    shown = choice.option.shown or ("" if default in (None, (), MISSING) else str(default))
    return f"{text} [default: {shown}]" if shown else text
