"""The tree of errors is the one that its docstring draws."""

import inspect

import pytest

from unmask import errors
from unmask.errors import InputError, SchemaError, UnmaskError
from unmask.tables.schema import Column, Kind, Schema


def test_the_drawing_shows_every_error_under_its_parent():
    drawn, parents = {}, {}
    for line in errors.__doc__.splitlines():
        for kind in inspect.getmembers(errors, inspect.isclass):
            if kind[0] in line.split():
                depth = line.index(kind[0])
                parents[depth] = kind[0]
                drawn[kind[0]] = parents.get(depth - 4, "Exception")
    real = {name: kind.__bases__[0].__name__ for name, kind in inspect.getmembers(errors, inspect.isclass)}
    assert drawn == real


def test_a_schema_error_is_a_value_error_as_well():
    assert SchemaError.__mro__[:4] == (SchemaError, InputError, UnmaskError, ValueError)
    column = Column("age", Kind.INTEGER, lower=0, upper=99)
    with pytest.raises(ValueError, match="age") as caught:
        Schema((column, column))
    assert isinstance(caught.value, UnmaskError)
