"""Small files without quotes are read without pandas: the same table, the same complaints."""

import subprocess
import sys

import pytest

from unmask.errors import InputError
from unmask.tables import read
from unmask.tables.read import infer_together, read_frame, read_table

FILES = {
    "plain": "a,b,c\n1,x,2.5\n2,,NA\n1,y,\n",
    "windows": "a,b\r\n1,x\r\n\r\n2,y\r\n",
    "no last line feed": "a;b\n1,5;x\n2,5;y",
    "blank lines": "\n\na,b\n\n1,x\n\n2,y\n\n",
    "spaces": "a,b\n 1, x\n2 ,y \n",
    "letters": "näme,b\nä,1\nö,2\n",
    "one column": "a\n1\n\n2\n",
    "uneven": "a,b\n1,x\n2\n",
    "uneven after blank lines": "a,b\n\n1,x\n\n2,y,z\n",
    "names twice": "a,a\n1,x\n2,y\n",
    "no rows": "a,b\n",
    "no names": "3,7\n4,8\n5,9\n",
    "empty names": ",b\n1,x\n",
    "lone carriage return": "a,b\n1,x\ry,2\n",
}


def table_or_error(path):
    try:
        table = read_table(path)
    except InputError as problem:
        return str(problem)
    return table.schema, table.notes, table.digest()


@pytest.mark.parametrize("name", FILES)
def test_they_are_the_same_tables_as_by_pandas(name, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_bytes(FILES[name].encode())
    own = table_or_error(path)
    monkeypatch.setattr(read, "is_plain", lambda text: False)
    assert own == table_or_error(path)


def test_many_rows_are_too(tmp_path, monkeypatch):
    """More than are read at a time, with persons, gaps and a column of many texts."""
    path = tmp_path / "people.csv"
    path.write_text(
        "who,x,y\n" + "".join(f"p{row // 3},{row * 7 % 301},{'ab '[row % 3].strip()}\n" for row in range(1_000))
    )
    hints = read.Hints(person="who")

    def made():
        table = read_table(path, hints)
        return table.schema, table.digest(), infer_together(read_frame(path), [read_frame(path)], hints)

    own = made()
    monkeypatch.setattr(read, "is_plain", lambda text: False)
    assert own == made()


def test_pandas_is_not_loaded(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(FILES["plain"])
    asked = f"import sys; from unmask.tables.read import read_table; read_table({str(path)!r}); print('pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
