"""Registers the verbs and turns errors into messages and exit codes.

0 nothing at or above --fail-on; 1 findings; 2 wrong input; 3 interrupted; 4 some tasks failed; 70 a defect of unmask.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated, Any

import typer

from unmask.cli import (
    attack,
    attacks,
    audit,
    demo,
    describe,
    epsilon,
    everyone,
    filter,
    generators,
    pool,
    report,
    schema,
    synthesize,
)
from unmask.errors import UnmaskError

# Typer brings its own copy of click; this is the root of its errors about wrong usage.
WrongUsage: Any = typer.BadParameter.__mro__[2]
TYPER_INTERRUPTED = 130  # what typer makes of Ctrl-C

app = typer.Typer(
    name="unmask",
    help="Measures what a synthetic table gives away about the people in the real one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (demo, audit, schema, describe, generators, synthesize, attacks, attack, everyone, epsilon, filter, report):
    app.command(name=verb.__name__.rpartition(".")[2], help=verb.__doc__)(verb.run)
app.add_typer(pool.app, name="pool")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"unmask {version('unmask')}")
        raise typer.Exit()


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Measures what a synthetic table gives away about the people in the real one."""


def run() -> None:
    """Entry point: no traceback reaches a user, unless UNMASK_DEBUG is set."""
    # Errors of threads reach us through what the threads were asked for; that killed workers are gone is no news.
    threading.excepthook = lambda _: None
    sys.path.append(
        os.getcwd()
    )  # --generator module:Class finds a file beside the data; last, so that it hides nothing
    try:
        code = app(prog_name="unmask", standalone_mode=False)
        if code == TYPER_INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)
    except WrongUsage as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except UnmaskError as problem:
        _stop(str(problem), 2, problem)
    except (KeyboardInterrupt, typer.Abort) as problem:
        _stop("Interrupted. With --out the same command continues where it stopped.", 3, problem)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError as problem:
        _stop("Out of memory. Use fewer rows, or a machine with more memory.", 2, problem)
    except Exception as problem:  # noqa: BLE001 - the last line of defence: a message instead of a traceback
        what = f"{type(problem).__name__}: {problem}"
        _stop(
            f"This is a defect of unmask: {what}\nRun again with UNMASK_DEBUG=1 and report what it prints.", 70, problem
        )


def _stop(message: str, code: int, problem: BaseException) -> None:
    if os.environ.get("UNMASK_DEBUG"):
        raise problem
    print(message, file=sys.stderr, flush=True)
    if code == 3:  # at once: threads that watch the killed workers must not complain into the message
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
