"""Registers the verbs and turns errors into messages and exit codes.

0 nothing at or above --fail-on; 1 findings; 2 wrong input; 3 interrupted; 4 some tasks failed; 5 inconclusive or confounded, with
--fail-on inconclusive; 70 a defect of unmask. 3 before 4 before 1 before 5.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

import click

from unmask.cli.ending import end_when_asked, ending
from unmask.cli.saying import say
from unmask.cli.trust import forget_the_working_directory

# The verbs in the order of help; each is the `command` of the file of its name, which is loaded when it is used.
VERBS = {
    "demo": "Audit two releases of the bundled data: needs nothing.",
    "audit": "Audit a release: REAL and SYNTHETIC in, a verdict out.",
    "check": "Look the files over before an audit, in seconds.",
    "schema": "Write a schema for you to check and edit.",
    "describe": "Describe a table before it is attacked.",
    "generators": "List the generators and what they claim.",
    "synthesize": "Fit a generator and write a synthetic table.",
    "attacks": "List the attacks and what they need.",
    "attack": "Attack a generator: can people be recognised in what it publishes?",
    "everyone": "The risk of each person in a table, for the price of K fits.",
    "pool": "The same for a generator that runs elsewhere.",
    "utility": "What a release is still good for, beside fresh real people.",
    "compare": "Mechanisms side by side: what each hides, keeps and costs.",
    "epsilon": "Try to refute a differential-privacy claim.",
    "reconstruct": "Rebuild records from what a provider's privacy metrics answer.",
    "work": "Help with a run that another process leads: a cluster of plain processes.",
    "reverse-map": "Express a release as a permutation of the real table plus noise.",
    "filter": "Drop synthetic rows that are too close to real ones, or outliers.",
    "decide": "Keep what a person decided about a result beside it.",
    "report": "Make the report of a finished run, or of several side by side.",
    "serve": "The local page: files in, report out, in your browser.",
}


LOOKS_AFTER = (
    10_000  # objects made, before Python looks for circles: libraries make many that stay, and each look costs
)


class Verbs(click.Group):
    """Loads a verb when it is used, so that `unmask --help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"unmask.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from unmask.versions import version_of

        click.echo(f"unmask {version_of('unmask')}")
        ctx.exit()


app = Verbs(
    "unmask",
    help="Measures what a synthetic table gives away about the people in the real one.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
            help="Print the version and stop.",
        )
    ],
)  # fmt: skip


def run(*, path_is_clean: bool = False) -> None:
    """Entry point: no traceback reaches a user, unless UNMASK_DEBUG is set."""
    # Errors of threads reach us through what the threads were asked for; that killed workers are gone is no news.
    threading.excepthook = lambda _: None
    sys.unraisablehook = lambda _: None  # nor that an object which an interrupt left half made cannot be closed
    try:
        os.getcwd()
        forget_the_working_directory(path_is_clean=path_is_clean)
    except OSError:
        say("The current directory is gone. Change to one that is there, and repeat the command.")
        sys.exit(2)
    _prepare_streams()
    end_when_asked()
    gc.set_threshold(LOOKS_AFTER, *gc.get_threshold()[1:])
    code = _flushed(answer())
    if code == 3:  # at once: threads that watch the killed workers must not complain into the message
        os._exit(code)
    gc.freeze()  # all ends now: looking once more through what the libraries made takes a twentieth of a second
    sys.exit(code)


def answer(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for. Returns the exit code; what went wrong is told in a message."""
    try:
        code = app.main(arguments, prog_name="unmask", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as problem:
        shown = io.StringIO()
        problem.show(shown)
        return _told(shown.getvalue().rstrip(), problem.exit_code, problem)
    except BrokenPipeError:
        _give_up_output()
        return 0
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001 - the last line of defence: a message, no traceback
        end = ending(problem)
        return _told(end.message, end.code, problem)


def _told(message: str, code: int, problem: BaseException) -> int:
    if os.environ.get("UNMASK_DEBUG"):
        raise problem
    say(message)
    return code


def _prepare_streams() -> None:
    """What a stream cannot say is escaped, not an error. Files and pipes get UTF-8 on every system."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            file = not stream.isatty() and not os.environ.get("PYTHONIOENCODING")
            stream.reconfigure(encoding="utf-8" if file else stream.encoding, errors="backslashreplace")


def _flushed(code: int) -> int:
    """The exit code, once all that was printed has arrived; Python itself would be late and unclear about it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()
    except (OSError, ValueError) as problem:
        _give_up_output()
        if code != 2:
            say(f"Nothing more can be written: {getattr(problem, 'strerror', None) or problem}.")
        return 2
    return code


def _give_up_output() -> None:
    """Nobody reads the output, or it is full: what is still to be flushed goes nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    run()
