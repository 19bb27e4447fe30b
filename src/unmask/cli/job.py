"""What another process needs to work on a run: which verb, which plan, which files. Written into the run directory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import ParameterError, RunError
from unmask.files import digest_of_file, parse_json, read_text, shown, write_atomically
from unmask.versions import difference, that_change_numbers

if TYPE_CHECKING:
    from unmask.audits.plan import Plan
    from unmask.audits.runner import Runner
    from unmask.cli.verb import AuditVerb
    from unmask.simulation.executors import Executor

JOB = "work.json"
FORMAT = 1


@dataclass(frozen=True)
class Job:
    """A run as others can join it: plain data, so that nothing in it is executed."""

    verb: str
    plan: dict[str, Any]
    inputs: dict[str, str]  # paths, by the name of the argument
    digests: dict[str, str]
    draws: str  # the directory, as seen from the run directory
    group: bool = False
    versions: dict[str, str] = field(default_factory=dict)  # of what takes part in a draw, where the run was begun
    code: dict[str, str] = field(default_factory=dict)  # digests of the files whose classes the plan names

    @classmethod
    def of(cls, verb: AuditVerb, plan: Plan, inputs: Mapping[str, Path], runner: Runner) -> Job:
        from unmask.audits.plan import choices_of, files_of_code

        if runner.out is None or runner.draws is None:
            raise ParameterError("Others can work on a run only if it has a directory. Name one with --out.")
        for name, path in inputs.items():
            if not isinstance(path, Path) or not os.path.isfile(path):
                raise ParameterError(f"{path}: others cannot read {name} from here. Give a file.")
        plain = {each.name: each.plain(getattr(plan, each.name)) for each in choices_of(type(plan))}
        paths = {name: str(path.absolute()) for name, path in inputs.items()}
        digests = {name: digest_of_file(path) for name, path in inputs.items()}
        draws = os.path.relpath(runner.draws, runner.out)
        code = {path: digest_of_file(Path(path)) for path in files_of_code(type(plan), plain)}
        return cls(verb.name, plain, paths, digests, draws, runner.group, that_change_numbers(), code)

    @classmethod
    def read(cls, directory: Path) -> Job:
        """The job of a run directory."""
        path = directory / JOB
        try:
            plain = parse_json(read_text(path, error=RunError), shown(path), error=RunError)
        except FileNotFoundError:
            raise RunError(
                f"{shown(directory)}: there is no {JOB} here. Start the run with --cluster shared, or with --prepare."
            ) from None
        try:
            known = plain.pop("format")
            if known != FORMAT:
                raise RunError(f"{shown(path)}: of format {known!r}; this version reads {FORMAT}.")
            job = cls(**plain)
        except (TypeError, AttributeError, KeyError):
            raise RunError(f"{shown(path)}: damaged. Repeat the command with --prepare; it writes it anew.") from None
        job._check(path)
        return job

    def _check(self, path: Path) -> None:
        maps = (self.inputs, self.digests, self.versions, self.code)
        whole = isinstance(self.plan, dict) and all(isinstance(each, dict) for each in maps)
        texts = (
            [self.verb, self.draws, *(text for each in maps for pair in each.items() for text in pair)] if whole else []
        )
        if not whole or not all(isinstance(each, str) for each in texts):
            raise RunError(f"{shown(path)}: damaged. Repeat the command with --prepare; it writes it anew.")
        if other := difference(self.versions):
            raise RunError(
                f"{shown(path)}: this machine would draw other numbers: it has {other}. Install what the run was begun with, or "
                "begin it with what is installed here."
            )

    def check_code(self) -> None:
        """Files with classes that draw must be here, and hold the same code: another one draws other numbers."""
        for path, digest in self.code.items():
            if not os.path.isfile(path):
                raise RunError(
                    f"{shown(Path(path))}: there is no such file here, and this run draws with its code. Repeat this in a folder "
                    "from where it lies at that path."
                )
            if digest_of_file(Path(path)) != digest:
                raise RunError(
                    f"{shown(Path(path))}: holds other code than where the run was begun (another digest), and would draw other "
                    "numbers."
                )

    def write(self, directory: Path | None) -> None:
        if directory is not None:
            text = json.dumps({"format": FORMAT, **vars(self)}, indent=1) + "\n"
            write_atomically(directory / JOB, text, private=True, group=self.group)

    def files(self, elsewhere: Mapping[str, Path]) -> dict[str, Path]:
        """The input files, each at the place that was named or where the run had it; another content is an error."""
        if unknown := [name for name in elsewhere if name not in self.inputs]:
            raise ParameterError(f"--input {unknown[0]}: this run reads {', '.join(self.inputs) or 'no file'}.")
        found = {name: elsewhere.get(name, Path(path)) for name, path in self.inputs.items()}
        for name, path in found.items():
            if not os.path.isfile(path):
                raise RunError(f"{shown(path)}: there is no such file here. Say where it is: --input {name}=PATH.")
            if digest_of_file(path) != self.digests.get(name):
                raise RunError(f"{shown(path)}: this is not the file that the run reads as {name} (another digest).")
        return found


def executor_for(
    cluster: str | None, workers: int | None, out: Path | None, time_budget: float | None
) -> int | Executor | None:
    """Who works, as --cluster and --workers say."""
    if cluster is None:
        return workers
    if time_budget is not None:
        raise ParameterError("--time-budget counts the time of one machine; leave it out with --cluster.")
    if cluster == "shared":
        from unmask.audits.runner import all_cores
        from unmask.simulation.executors.shared import Shared

        if out is None:
            raise ParameterError("--cluster shared needs a directory that all see. Name one with --out.")
        return Shared(workers or all_cores(), leads=True)
    if cluster == "dask" or "://" in cluster:
        from unmask.simulation.executors.cluster import Dask

        return Dask("" if cluster == "dask" else cluster)
    raise ParameterError(f"--cluster is '{cluster}'; use shared, the address of a dask scheduler (tcp://...), or dask.")
