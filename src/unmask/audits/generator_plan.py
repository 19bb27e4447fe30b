"""What plans about a generator have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.audits.plan import Plan, option

if TYPE_CHECKING:
    from unmask.generators._generator import Generator


@dataclass(frozen=True, kw_only=True)
class GeneratorPlan(Plan):
    """A plan that names a generator and its parameters."""

    generator: str = option(help="Generator: name, module:Class, or 'command: ...'. `unmask generators` lists them.")
    settings: tuple[str, ...] = option(
        (),
        help="Parameter of the generator, such as epsilon=1; may be repeated.",
        names=("--set",),
        metavar="NAME=VALUE",
    )

    def made(self) -> Generator:
        """The generator that it names."""
        from unmask.generators import parse

        return parse(self.generator, self.settings)
