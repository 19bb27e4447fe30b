"""What plans about a generator have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.audits.plan import Plan, option
from unmask.errors import ParameterError
from unmask.generators import is_code

if TYPE_CHECKING:
    from unmask.generators._generator import Generator


@dataclass(frozen=True, kw_only=True)
class GeneratorPlan(Plan):
    """A plan that names a generator and its parameters."""

    generator: str = option(
        help="Generator: name, module:Class, ./file.py:Class, or 'command: ...'. `unmask generators` lists them.",
        code=is_code,
    )
    settings: tuple[str, ...] = option(
        (),
        help="Parameter of the generator, such as epsilon=1; may be repeated.",
        names=("--set",),
        metavar="NAME=VALUE",
    )

    def made(self, given: str | Generator | None = None) -> Generator:
        """The generator that was given, or the one that the plan names."""
        from unmask.generators import parse

        if given is None or isinstance(given, str):
            return parse(self.generator, self.settings)
        if self.settings:
            raise ParameterError("The generator is made already: give settings with a name, or none.")
        return given
