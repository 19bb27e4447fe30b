"""Everything that unmask raises on purpose.

    UnmaskError                 anything a user can put right; the command line prints it without a traceback
    ├── InputError              a file, a table or a value is not what it should be
    │   └── SchemaError         a schema does not hold together, or a table does not follow it; also a ValueError
    ├── ParameterError          an option or an argument has no meaning
    ├── GeneratorError          a generator failed, or returned something that is not a table
    ├── NotAllowedError         an attack asked for what its threat model does not give
    ├── MissingExtraError       an optional library is not installed
    └── RunError                a run directory cannot be used

Each message says what is wrong, where, and what to do about it.
"""


class UnmaskError(Exception):
    """Something that the user can put right."""


class InputError(UnmaskError):
    """A file, a table or a value is not what it should be."""


class SchemaError(InputError, ValueError):
    """A schema does not hold together, or a table does not follow it.

    A ValueError too: code that makes columns and schemas by itself catches it as it catches any other wrong value.
    """


class ParameterError(UnmaskError):
    """An option or an argument has no meaning."""


class GeneratorError(UnmaskError):
    """A generator failed, or returned something that is not a table."""


class NotAllowedError(UnmaskError):
    """An attack asked for what its threat model does not give."""


class MissingExtraError(UnmaskError):
    """An optional library is not installed."""


class RunError(UnmaskError):
    """A run directory cannot be used."""
