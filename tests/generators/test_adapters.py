"""Adapters against small fakes: what goes out, what may come back, seeds, time limits, and nothing left behind."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import textwrap
import time
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import psutil
import pytest

from unmask import generators
from unmask.errors import GeneratorError, MissingExtraError, ParameterError
from unmask.files import HERE
from unmask.generators.adapters._frames import global_seed
from unmask.generators.adapters.command import Command
from unmask.generators.adapters.sdv import Sdv
from unmask.registry import load_class
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.testing import check_generator

SCHEMA = Schema(
    (
        Column("sex", Kind.CATEGORICAL, values=("f", "m"), missing=("?",)),
        Column("age", Kind.INTEGER, lower=0.0, upper=99.0),
        Column("day", Kind.DATETIME, lower=14_610.0, upper=14_974.0, resolution="D", format="%Y-%m-%d"),
    ),
    person="who",
)


@pytest.fixture
def table() -> Table:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(40)],
            "sex": rng.choice(np.array(["f", "m", None], dtype=object), 40),
            "age": rng.integers(18, 80, 40),
            "day": np.datetime_as_string(np.datetime64("2010-01-01") + rng.integers(0, 365, 40)),
        }
    )
    return Table.from_pandas(frame, SCHEMA)


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def same(first: Table, second: Table) -> bool:
    return np.array_equal(first.codes, second.codes) and np.array_equal(first.numbers, second.numbers, equal_nan=True)


# -- module:Class ----------------------------------------------------------------------------------------------------

FOREIGN = """
    import numpy as np, pandas as pd

    class Bootstrap:
        def __init__(self, noise=0, words=()):
            self.noise, self.words = noise, words
        def fit(self, df):
            self.df = df
        def sample(self, n):
            return self.df.iloc[np.random.randint(len(self.df), size=n)].reset_index(drop=True)

    class ByName(Bootstrap):
        def sample(self, conditions=None, num_rows=None):
            return super().sample(num_rows)

    class Generates:
        def fit(self, data):
            return Fitted(data)
    Generates.generate = lambda self, n: None

    class Fitted:
        def __init__(self, data):
            self.data = data
        def generate(self, count):
            return self.data.sample(count, replace=True)

    class Stateful(Bootstrap):
        def __init__(self, random_state=None):
            self.random_state = random_state
        def sample(self, n):
            return self.df.sample(n, replace=True, random_state=np.random.RandomState(self.random_state))

    class OwnSeed(Bootstrap):
        def __init__(self, seed):
            self.start = seed
        def sample(self, size, seed=None):
            return self.df.sample(size, replace=True, random_state=seed)

    class FewRows(Bootstrap):
        def sample(self, n):
            return self.df.head(n - 1)

    class NoAge(Bootstrap):
        def sample(self, n):
            return super().sample(n).drop(columns="age")

    class Strange(Bootstrap):
        def sample(self, n):
            return super().sample(n).assign(sex="x", age=100)

    class Holes(Bootstrap):
        def sample(self, n):
            return super().sample(n).assign(age=np.nan)

    class NoFrame(Bootstrap):
        def sample(self, n):
            return [1, 2]

    class Fails(Bootstrap):
        def fit(self, df):
            raise KeyError("age")

    class OnlyFit:
        def fit(self, df): ...

    not_a_class = 3
"""


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    (tmp_path / "foreign_generators.py").write_text(textwrap.dedent(FOREIGN))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "foreign_generators"
    sys.modules.pop("foreign_generators", None)


@pytest.mark.parametrize("kind", ["Bootstrap", "ByName", "Generates", "Stateful", "OwnSeed"])
def test_a_foreign_class_draws_from_the_table_and_is_repeatable(foreign, kind, table):
    generator = generators.get(f"{foreign}:{kind}")
    np_state = np.random.get_state()[1].tobytes()  # noqa: NPY002
    model = generator.fit(table, seeded(1))
    first, again, other = (model.sample(30, seeded(seed)) for seed in (1, 1, 2))
    assert np.random.get_state()[1].tobytes() == np_state  # noqa: NPY002
    assert same(first, again)
    assert not same(first, other)
    assert first.schema == table.schema
    assert first.persons is None
    rows = set(map(tuple, table.to_pandas().drop(columns="who").astype(str).to_numpy()))
    assert set(map(tuple, first.to_pandas().astype(str).to_numpy())) <= rows
    assert len(model.sample(0, seeded(1))) == 0


def test_a_foreign_class_keeps_the_contract_for_generators(foreign):
    assert len(check_generator(generators.get(f"{foreign}:Bootstrap")).refused) == 0


def test_parameters_are_plain_checked_and_pickle(foreign, table):
    generator = generators.get(f"{foreign}:Bootstrap", noise=2, words=["a", "b"])
    assert pickle.loads(pickle.dumps(generator)) == generator
    assert hash(generator) == hash(generators.get(f"{foreign}:Bootstrap", words=["a", "b"], noise=2))
    assert generator.fit(table, seeded(0)).fitted.words == ["a", "b"]
    with pytest.raises(ParameterError, match="unexpected keyword argument 'epochs'"):
        generators.get(f"{foreign}:Bootstrap", epochs=3)
    with pytest.raises(ParameterError, match="not JSON serializable"):
        generators.get(f"{foreign}:Bootstrap", noise=np.arange(3))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("FewRows", "returned 29 rows; 30 were asked for"),
        ("NoAge", "Missing here: 'age'"),
        ("Strange", "that the schema does not list: 'x'"),
        ("Holes", "column 'age' has missing values, and the schema does not allow them"),
        ("NoFrame", "this is a list"),
        ("Fails", "fit failed with KeyError: 'age'"),
    ],
)
def test_what_comes_back_is_checked(foreign, kind, message, table):
    with pytest.raises(GeneratorError, match=message):
        generators.get(f"{foreign}:{kind}").fit(table, seeded(0)).sample(30, seeded(0))


@pytest.mark.parametrize(
    ("name", "message"),
    [("OnlyFit", "neither sample nor generate"), ("not_a_class", "not a class"), ("Nothing", "has no 'Nothing'")],
)
def test_what_is_no_generator_is_refused(foreign, name, message):
    with pytest.raises(ParameterError, match=message):
        generators.get(f"{foreign}:{name}")


def test_the_class_of_a_file_goes_along_as_it_was(table, tmp_path, monkeypatch):
    """Workers elsewhere have no such file, or another; one that runs for days has seen a version before."""
    monkeypatch.chdir(tmp_path)
    text = (
        "class Same:\n    def fit(self, frame): self.frame = frame\n    def sample(self, n): return self.frame.{}(n)\n"
    )
    for rows in ("head", "tail"):
        (tmp_path / "mine.py").write_text(text.format(rows))
        sent = pickle.dumps(generators.get("./mine.py:Same"))
        (tmp_path / "mine.py").unlink()
        drawn = pickle.loads(sent).fit(table, np.random.default_rng(1)).sample(3, np.random.default_rng(1))
        chosen = slice(3) if rows == "head" else slice(-3, None)
        assert drawn.to_pandas().age.tolist() == table.to_pandas().age.tolist()[chosen]
    with pytest.raises(ParameterError, match="no such file"):
        generators.get("./mine.py:Same")


def test_threads_that_load_a_file_at_once_find_the_whole_of_it(tmp_path):
    (tmp_path / "mine.py").write_text("import time\ntime.sleep(0.3)\nclass Late: ...\n")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(load_class, [f"{tmp_path / 'mine.py'}:Late"] * 4))
    assert len({id(each) for each in found}) == 1


def test_a_class_of_our_own_protocol_is_used_as_it_is(table):
    from unmask.generators.raw import Raw

    assert generators.get("unmask.generators.raw:Raw") == Raw()
    with pytest.raises(ParameterError, match="has no parameter k"):
        generators.get("unmask.generators.raw:Raw", k=3)


def test_global_seeds_are_put_back():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    wanted = random.random(), np.random.rand()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    with pytest.raises(ZeroDivisionError), global_seed(7):
        np.random.rand(3).sum() * random.random() * (1 // 0)  # noqa: NPY002
    assert (random.random(), np.random.rand()) == wanted  # noqa: NPY002


# -- command: ... ----------------------------------------------------------------------------------------------------

SYNTH = """
    import csv, random, sys, time
    train, rows, out, seed, what = sys.argv[1:]
    rng = random.Random(int(seed))
    header, *lines = csv.reader(open(train))
    if what == "few": rows = int(rows) - 1
    drawn = [rng.choice(lines) for _ in range(int(rows))]
    if what == "columns": header[0] = "gender"
    if what == "values": drawn[0] = ["x", "200", "2010-01-01"]
    if what == "holes": drawn[0][1] = ""
    if what == "fail":
        print("e" * 10_000, "no memory left", file=sys.stderr)
        sys.exit(3)
    if what == "kill": import os, signal; os.kill(os.getpid(), signal.SIGTERM)
    if what == "silent": sys.exit(0)
    if what == "empty": open(out, "w"); sys.exit(0)
    with open(out, "w", newline="") as file:
        csv.writer(file).writerows([header, *drawn])
"""


@pytest.fixture
def synth(tmp_path):
    script = tmp_path / "synth with space.py"
    script.write_text(textwrap.dedent(SYNTH))
    return lambda what: f"command: {sys.executable} '{script}' {{train}} {{rows}} {{out}} {{seed}} {what}"


def test_a_command_draws_from_the_training_file(synth, table, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    generator = generators.get(synth("fine"))
    model = generator.fit(table, seeded(0))
    first, again, other = (model.sample(30, seeded(seed)) for seed in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)
    assert first.schema == table.schema
    rows = set(map(tuple, table.to_pandas().drop(columns="who").astype(str).to_numpy()))
    assert set(map(tuple, first.to_pandas().astype(str).to_numpy())) <= rows
    assert list(scratch.iterdir()) == []  # temporary files are gone
    assert len(model.sample(0, seeded(1))) == 0
    assert pickle.loads(pickle.dumps(generator)) == generator


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("few", "returned 29 rows; 30 were asked for"),
        ("columns", "Missing here: 'sex'.\nOnly here: 'gender'"),
        ("values", "the schema does not list: 'x'"),
        ("holes", "column 'age' has"),
        ("fail", "failed with exit code 3(.|\n)*no memory left"),
        ("kill", "was ended by signal 15"),
        ("silent", "wrote no file"),
        ("empty", "the file is empty"),
    ],
)
def test_a_command_that_goes_wrong_says_how(synth, what, message, table):
    with pytest.raises(GeneratorError, match=message) as caught:
        generators.get(synth(what)).fit(table, seeded(0)).sample(30, seeded(0))
    assert len(str(caught.value)) < 3000  # only the end of standard error


def test_the_whole_process_group_is_ended_at_the_time_limit(tmp_path, table):
    """The program starts a child of its own, which must not outlive it."""
    mark = tmp_path / "child"
    script = tmp_path / "slow.py"
    script.write_text(
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "print('still thinking', file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )
    generator = Command(f"{sys.executable} {script} {{train}} {{out}}", timeout=1.5)
    start = time.monotonic()
    with pytest.raises(GeneratorError, match=r"ended after 1.5 seconds(.|\n)*still thinking"):
        generator.fit(table, seeded(0)).sample(5, seeded(0))
    assert time.monotonic() - start < 15
    child = int(mark.read_text())
    deadline = time.monotonic() + 30
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(child)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere programs outlive who was killed")
def test_a_program_and_its_files_do_not_outlive_whoever_is_killed(tmp_path, table):
    """Its folder holds real rows."""
    mark, scratch, slow = tmp_path / "child", tmp_path / "scratch", tmp_path / "slow.py"
    scratch.mkdir()
    (scratch / f"unmask-{HERE}-999999999-old").mkdir()  # of one that was killed together with its guard
    slow.write_text(f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(300)\n")
    asked = tmp_path / "asked.py"
    asked.write_text(
        "import sys, pickle, numpy as np\n"
        "model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "model.sample(5, np.random.default_rng(0))\n"
    )
    model = Command(f"{sys.executable} {slow} {{train}} {{out}}").fit(table, seeded(0))
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    environment = {**os.environ, "TMPDIR": str(scratch)}
    process = subprocess.Popen([sys.executable, str(asked), str(tmp_path / "model")], env=environment)
    assert _in_time(lambda: mark.exists() and mark.read_text())
    (folder,) = scratch.iterdir()
    assert (folder / "train.csv").exists()
    process.kill()
    process.wait()
    assert _in_time(lambda: not _alive(int(mark.read_text())) and not list(scratch.iterdir()))


def _in_time(true) -> bool:
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(true())


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_no_shell_is_used(tmp_path, table):
    mark = tmp_path / "mark"
    script = tmp_path / "say.py"
    script.write_text("import sys; print(sys.argv[-1], file=sys.stderr); sys.exit(1)")
    with pytest.raises(GeneratorError, match=r"\$\(touch"):
        Command(f"{sys.executable} {script} {{train}} {{out}} '$(touch {mark})'").fit(table, seeded(0)).sample(
            5, seeded(0)
        )
    assert not mark.exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "there is none"),
        ("./synth {train} {out} {model}", "no placeholder '{model}'. There are: {train}, {rows}, {out}, {seed}"),
        ("./synth {train}", "{out} does not occur"),
        ("./synth {train} | tee {out}", "'|' needs a shell"),
        ("./synth {train} {out} 'open", "cannot be taken apart: No closing quotation"),
    ],
)
def test_commands_without_meaning_are_refused(command, message):
    with pytest.raises(ParameterError) as caught:
        Command(command)
    assert message in str(caught.value)
    with pytest.raises(ParameterError, match="timeout is 0"):
        Command("./synth {train} {out}", timeout=0)


def test_braces_that_are_no_placeholder_stay(tmp_path, table):
    script = tmp_path / "say.py"
    script.write_text("import sys; print(sys.argv[-1], file=sys.stderr); sys.exit(1)")
    command = f"{sys.executable} {script} {{train}} {{out}} '{{\"epochs\": 3}}'"
    with pytest.raises(GeneratorError, match=r'{"epochs": 3}'):
        Command(command).fit(table, seeded(0)).sample(5, seeded(0))


def test_a_program_that_is_not_there_is_named(table):
    with pytest.raises(GeneratorError, match=r"'./no-such-program' cannot be started: No such file"):
        Command("./no-such-program {train} {out}").fit(table, seeded(0)).sample(5, seeded(0))


# -- SDV: fakes of its two interfaces --------------------------------------------------------------------------------


class FakeTransformer:
    def set_random_state(self, state, method):
        assert method == "reverse_transform"
        self.state = state


class FakeSynthesizer:
    """Seeded by a constant unless told otherwise, as SDV is; missing values are placed by the transformer."""

    def __init__(self, metadata, default_distribution="beta"):
        self.metadata, self.default_distribution = metadata, default_distribution
        self._data_processor = types.SimpleNamespace(
            _hyper_transformer=types.SimpleNamespace(_transformers_sequence=[FakeTransformer()])
        )

    def reset_sampling(self):
        self.state = None

    def _set_random_state(self, seed):
        self.state = np.random.RandomState(seed)

    def _fit(self, frame):
        assert isinstance(frame, pd.DataFrame)
        assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes)
        self.frame = frame.drop(columns="sex")

    def _sample(self, rows):
        sample = self.frame.sample(rows, replace=True, random_state=self.state).reset_index(drop=True)
        sex = self._data_processor._hyper_transformer._transformers_sequence[0].state.choice(["f", "m"], rows)
        return sample.assign(sex=pd.Series(sex, dtype=object))


class OneSynthesizer(FakeSynthesizer):
    def fit(self, data):
        self._fit(data)

    def sample(self, num_rows, max_tries_per_batch=100, batch_size=None, output_file_path=None):
        return self._sample(num_rows)


class TwoSynthesizer(FakeSynthesizer):
    def fit(self, data):
        assert list(data) == ["table"]
        self._fit(data["table"])

    def sample(self, num_rows, main_table_name=None, max_tries_per_batch=100, batch_size=None, output_folder_path=None):
        return {"table": self._sample(num_rows)}


class FakeMetadata:
    @classmethod
    def load_from_dict(cls, document, single_table_name=None):
        made = cls()
        made.document = document
        return made


@pytest.fixture(params=["1.0.0", "1.38.5", "2.0.0"])
def fake_sdv(request, monkeypatch):
    """1.0 knows SingleTableMetadata only, 2.0 Metadata only, those between both."""
    sdv, single_table, metadata = (types.ModuleType(name) for name in ("sdv", "sdv.single_table", "sdv.metadata"))
    sdv.__version__ = request.param
    single_table.GaussianCopulaSynthesizer = TwoSynthesizer if request.param.startswith("2") else OneSynthesizer
    if request.param != "1.0.0":
        metadata.Metadata = FakeMetadata
    if not request.param.startswith("2"):
        metadata.SingleTableMetadata = FakeMetadata
    sdv.single_table, sdv.metadata = single_table, metadata
    for module in (sdv, single_table, metadata):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return request.param


def test_both_interfaces_of_sdv(fake_sdv, table):
    generator = generators.get("sdv", parameters={"default_distribution": "norm"})
    model = generator.fit(table, seeded(0))
    assert model.synthesizer.default_distribution == "norm"
    assert model.synthesizer.metadata.document["columns"] == {
        "sex": {"sdtype": "categorical"},
        "age": {"sdtype": "numerical"},
        "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
    }
    first, again, other = (model.sample(30, seeded(seed)) for seed in (1, 1, 2))
    assert same(first, again)
    assert not np.array_equal(first.numbers, other.numbers)
    assert not np.array_equal(first.codes[:, 0], other.codes[:, 0])  # the transformers are seeded too
    assert first.schema == table.schema


def test_sdv_parameters_and_names(fake_sdv, table):
    text = '{"default_distribution": "norm"}'
    assert Sdv(parameters=text) == Sdv(parameters={"default_distribution": "norm"})
    assert hash(pickle.loads(pickle.dumps(Sdv(parameters=text)))) == hash(Sdv(parameters=text))
    with pytest.raises(ParameterError, match="cannot be used"):
        Sdv(parameters="norm")
    with pytest.raises(ParameterError, match=r"no synthesizer 'Nope'. There are: 'GaussianCopulaSynthesizer'"):
        Sdv("Nope").fit(table, seeded(0))
    with pytest.raises(GeneratorError, match="construction failed with TypeError"):
        Sdv(parameters={"epochs": 3}).fit(table, seeded(0))


def test_without_sdv_the_error_says_what_to_install(monkeypatch, table):
    monkeypatch.setitem(sys.modules, "sdv", None)
    with pytest.raises(MissingExtraError, match="pip install sdv"):
        Sdv().fit(table, seeded(0))
