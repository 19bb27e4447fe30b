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
    domain: str = option(
        "public",
        help="Ranges and categories: those of the schema, or read off each training table, which voids claims.",
        choices=("public", "learnt"),
    )

    def made(self, given: str | Generator | None = None) -> Generator:
        """The generator that was given, or the one that the plan names, with the domain that the plan asks for."""
        from unmask.generators import parse

        if given is None or isinstance(given, str):
            return self.with_domain(parse(self.generator, self.settings))
        if self.settings:
            raise ParameterError("The generator is made already: give settings with a name, or none.")
        return self.with_domain(given)

    @property
    def domain_notes(self) -> tuple[str, ...]:
        """What a result says of a domain that is not public."""
        if self.domain == "public":
            return ()
        return (
            "Ranges and categories were read off each training table, which no claim of differential privacy covers.",
        )

    def with_domain(self, generator: Generator) -> Generator:
        """The generator as it is, or one that learns its domain."""
        from unmask.generators.adapters.learnt_domain import LearntDomain

        return LearntDomain(generator) if self.domain == "learnt" else generator
