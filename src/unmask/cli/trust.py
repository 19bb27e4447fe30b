"""Code that a file of somebody else names is shown, and runs only if the user says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from unmask.audits.plan import Plan


def forget_the_working_directory(*, path_is_clean: bool = False) -> None:
    """Take out of `sys.path` what `python -m` and `python -c` put first: the folder of the data is no place for code.

    Folders that the user named in PYTHONPATH stay, and so does everything under `-P`, which puts nothing there.
    """
    # numba takes settings from .numba_config.yaml in the current directory: one could name a folder of pickles to load.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    if not path_is_clean and not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]


def options() -> list[click.Option]:
    """For verbs whose plan may name code."""
    return [
        python_path(),
        click.Option(
            ["--trust"], is_flag=True, help="Run the code that the plan file names: commands, classes, files."
        ),
    ]


def python_path() -> click.Option:
    return click.Option(
        ["--python-path"], multiple=True, expose_value=False, callback=_search, metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Folder in which module:Class is looked for too; may be repeated. The current one is not.",
    )  # fmt: skip


def _search(ctx: click.Context, param: click.Parameter, folders: tuple[Path, ...]) -> None:
    """Last, so that it hides nothing; worker processes get the same list."""
    sys.path.extend(str(folder.absolute()) for folder in folders if str(folder.absolute()) not in sys.path)


def _at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def check_trust(plan: type[Plan], choices: Mapping[str, Any], source: Path, *, trusted: bool) -> None:
    """Stop if a file names code and nobody said that it may run. `choices` are those that come from the file."""
    from unmask.audits.plan import code_in
    from unmask.cli.saying import say
    from unmask.errors import ParameterError

    found = code_in(plan, choices)
    if not found or trusted:
        return
    told = f"{source} names code that would run here, with your rights:\n" + "\n".join(f"  {line}" for line in found)
    if _at_a_terminal():
        say(told)
        if click.confirm("Run it?", err=True):
            return
        raise ParameterError("Nothing was run.")
    raise ParameterError(f"{told}\nIf you trust it, add --trust; or name the code yourself on the command line.")
