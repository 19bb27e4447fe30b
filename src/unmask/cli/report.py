"""Show the result of a finished run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import Json


def run(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory that an audit wrote.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    from unmask.audits.run import load
    from unmask.cli.options import deliver

    result = load(directory)
    deliver(result, out=None, as_json=as_json, quiet=False, workers=1)
