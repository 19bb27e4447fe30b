"""Verbs as commands. Those that run an audit take their options from its plan, and all go the same way."""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli import trust as trusting
from unmask.cli.options import PATH, TableArgument, chosen, of_a_run, of_draws, of_plan
from unmask.cli.outputs import force, guarded, writes
from unmask.cli.saying import safe_json, say
from unmask.cli.watching import ProgressFile, watch
from unmask.errors import InputError
from unmask.files import let_group_in

if TYPE_CHECKING:
    from unmask.audits.plan import Plan
    from unmask.audits.release.preflight.files import Preflight
    from unmask.results.result import Result


def verb(
    name: str,
    doc: str | None,
    parameters: Sequence[click.Parameter],
    run: Callable[..., Any],
    kind: type[click.Command] = click.Command,
) -> click.Command:
    """A command whose help is the docstring of its file, with a line for each table that it takes."""
    tables = [each for each in parameters if isinstance(each, TableArgument)]
    lines = [f"{(each.metavar or each.name or '').upper()}: {each.told}" for each in tables]
    if writes(parameters):
        parameters, run = [*parameters, force()], guarded(run)
    return kind(
        name,
        help="\n\n".join([(doc or "").strip(), *(["\b\n" + "\n".join(lines)] if lines else [])]),
        params=list(parameters),
        callback=run,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    )


@dataclass(frozen=True)
class AuditVerb:
    """A verb that runs an audit: what it takes besides its plan, and where the audit is found."""

    name: str
    doc: str | None
    plan: type[Plan]
    audit: str  # module:Class, loaded when it runs
    doing: str  # said beside the progress bar
    tables: Sequence[TableArgument] = ()
    more: Sequence[click.Option] = ()  # handed to the audit by name
    without: Sequence[str] = ()  # common options that have no meaning here
    within: str = ""  # what a time budget means here
    out: str = ""  # where files go if --out is not given
    kind: type[click.Command] = click.Command
    draws: bool = False  # whether its draws are tasks that other processes can take

    @property
    def command(self) -> click.Command:
        common = [each for each in of_a_run(self.within, self.out) if each.name not in self.without]
        parameters = [*self.tables, *of_plan(self.plan), *self.more, *common, *(of_draws() if self.draws else [])]
        if names_code(self.plan):
            parameters += trusting.options()
        made = verb(self.name, self.doc, parameters, self.start, self.kind)
        made.audit_verb = self  # type: ignore[attr-defined] # `unmask work` finds it here
        return made

    def start(self, **given: Any) -> None:
        """Run the audit, libraries with one thread each.

        Before arrays are loaded: BLAS starts its threads then, and those that nobody needs wait by spinning.
        """
        from unmask.spared import spare
        from unmask.threads import one_thread

        with one_thread():
            spare("numpy", "f2py")  # before scipy.special is loaded
            self.run(**given)

    def run(
        self,
        *,
        out: Path | None,
        workers: int | None,
        plan_file: Path | None,
        write_plan: Path | None,
        as_json: bool,
        quiet: bool,
        fail_on: str = "none",
        time_budget: float | None = None,
        pool: Path | None = None,
        junit: Path | None = None,
        trust: bool = False,
        cluster: str | None = None,
        prepare: bool = False,
        share_with_group: bool = False,
        **given: Any,
    ) -> None:
        from unmask.audits import plan as plans
        from unmask.audits.runner import Runner, silent
        from unmask.cli.job import Job, executor_for
        from unmask.registry import load_class
        from unmask.results.directory import holds_result, input_files

        typed = chosen(self.plan, given)
        choices = plans.read_plan(self.plan, plan_file) if plan_file else {}
        if plan_file is not None:  # what the user typed needs no trust
            theirs = {name: value for name, value in choices.items() if name not in typed}
            trusting.check_trust(self.plan, theirs, plan_file, trusted=trust)
        plan = self.plan.of(choices | typed)
        if write_plan is not None:
            command = click.get_current_context().command_path
            plans.write_plan(plan, write_plan, " ".join([command, *self._words()]))
            return
        made = out is not None and not os.path.exists(out)
        check_out(out)
        if out is not None and made and share_with_group:
            let_group_in(out)
        hush = quiet or as_json
        executor = executor_for(cluster, workers, out, time_budget)
        runner = Runner.of(executor, out=out, pool=pool, time_budget=time_budget, say=silent if hush else say)
        runner = replace(runner, group=share_with_group)
        with ProgressFile(None if prepare else out, _path(), group=share_with_group) as kept:
            if out is not None and not holds_result(out):
                kept.begin()
            with watch("Reading", quiet=hush):
                kept.watch.stage("Reading the files")
                audit: Any = load_class(self.audit)
                ready = audit.of(plan, **given)
                files = input_files({name: given[name] for name in self._sources() if given.get(name)})
            check_out(out, ready.expected())
            kept.begin()
            if prepare or cluster == "shared":
                read = {name: given[name] for name in self._sources() if given.get(name)}
                Job.of(self, plan, read, runner).write(out)
            if prepare:
                runner.say(
                    f"Now: unmask work {out}, as often and on as many machines as you like; then repeat this command."
                )
                return
            if not hush:
                ask_first(getattr(ready, "preflight", None))
            with watch(self.doing, quiet=hush) as bar:
                seen = bar + kept.watch
                seen.stage(self.doing)
                result = replace(ready.run(runner.watched(seen.progress, seen.stage)), files=files)
            kept.watch.stage("Writing the report")
            deliver(result, out=out, as_json=as_json, quiet=quiet, run=how_it_ran(runner.workers, runner.damaged))
            if junit is not None:
                from unmask.files import write_atomically
                from unmask.reports.junit import junit_xml
                from unmask.results.state import FailOn

                write_atomically(junit, junit_xml(result, FailOn(fail_on)))
            kept.watch.stage("Done")
            finish(result, fail_on)

    def _sources(self) -> list[str]:
        """Tables and whatever else is read, in the order of the command."""
        return [each.name or "" for each in (*self.tables, *self.more) if each.type is PATH] + ["schema"]

    def _words(self) -> list[str]:
        return [(each.metavar or each.name or "").upper() for each in self.tables if each.required]


def _path() -> str:
    """The running command as it is typed behind `unmask`."""
    return click.get_current_context().command_path.partition(" ")[2]


def ask_first(preflight: Preflight | None) -> None:
    """Say what was noticed before the work begins; at a terminal, ask whether to go on where it may be a mistake."""
    if preflight is None:
        return
    for line in (*preflight.lines, *preflight.questions):
        say(line)
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if preflight.questions and at_terminal and not click.confirm("Go on all the same?", default=False, err=True):
        raise InputError("Nothing was done. Repeat the command with the tables as they should be.")


def names_code(plan: type[Plan]) -> bool:
    """Whether a plan of this kind may name code."""
    from unmask.audits.plan import choices_of

    return any(choice.option.code for choice in choices_of(plan))


def deliver(result: Result, *, out: Path | None, as_json: bool, quiet: bool, run: Mapping[str, Any]) -> None:
    """Write a result to its directory and show it, as the options say."""
    from unmask.results.directory import load, write

    if out is not None:
        from unmask.reports.html import write_report

        write(result, out, run=run)
        write_report(load(out), out)  # of what was written: `unmask report` makes the same bytes of it later
    if as_json:
        print(safe_json(json.dumps(result.to_plain(), indent=1, ensure_ascii=False)))
    elif not quiet:
        from rich.console import Console

        from unmask.reports.terminal import show

        show(result, Console(), where=str(out) if out else "", run=run)


def check_out(out: Path | None, expected: Result | None = None) -> None:
    """Find out before the work begins that --out cannot be used, or holds another run."""
    if out is not None:
        from unmask.results.directory import check_directory

        check_directory(out, expected)


def how_it_ran(workers: int, damaged: Collection[str] = ()) -> dict[str, object]:
    """What goes to run.json and not to result.json, since it differs between equal runs."""
    again = {"damaged_draws": sorted(damaged)} if damaged else {}
    return again | {
        "command": ["unmask", *sys.argv[1:]],
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "workers": workers,
        "directory": os.getcwd(),
    }


def finish(result: Result, fail_on: str) -> None:
    """Set the exit code: 4 if tasks failed, 1 if a leak is at or above the limit, 5 if there is no answer and one is wanted."""
    from unmask.results.state import FailOn

    if code := FailOn(fail_on).exit_code(result):
        raise click.exceptions.Exit(code)
