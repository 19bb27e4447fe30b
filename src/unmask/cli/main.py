"""Registers the verbs and turns errors into messages and exit codes.

0 nothing at or above --fail-on; 1 findings; 2 wrong input; 3 interrupted; 4 some tasks failed; 70 a defect of unmask.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading

import click

from unmask.errors import UnmaskError

# The verbs in the order of help; each is the `command` of the file of its name, which is loaded when it is used.
VERBS = {
    "demo": "Audit two releases of the bundled data: needs nothing.",
    "audit": "Audit a release: REAL and SYNTHETIC in, a verdict out.",
    "schema": "Write a schema for you to check and edit.",
    "describe": "Describe a table before it is attacked.",
    "generators": "List the generators and what they claim.",
    "synthesize": "Fit a generator and write a synthetic table.",
    "attacks": "List the attacks and what they need.",
    "attack": "Attack a generator: can people be recognised in what it publishes?",
    "everyone": "The risk of each person in a table, for the price of K fits.",
    "pool": "The same for a generator that runs elsewhere.",
    "epsilon": "Try to refute a differential-privacy claim.",
    "filter": "Drop synthetic rows that are too close to real ones, or outliers.",
    "report": "Make the report of a finished run, or of several side by side.",
}


class Verbs(click.Group):
    """Loads a verb when it is used, so that `unmask --help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"unmask.cli.{cmd_name}").command
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


def run() -> None:
    """Entry point: no traceback reaches a user, unless UNMASK_DEBUG is set."""
    # Errors of threads reach us through what the threads were asked for; that killed workers are gone is no news.
    threading.excepthook = lambda _: None
    # --generator module:Class finds a file beside the data; last, so that it hides nothing
    sys.path.append(os.getcwd())
    try:
        code = app.main(prog_name="unmask", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except UnmaskError as problem:
        _stop(str(problem), 2, problem)
    except (KeyboardInterrupt, click.Abort) as problem:
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
