"""What is tried: each case writes its files into a folder of its own and says which command to run on them."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz import odd
from tests.fuzz.tables import rows_of, write_table

HERE = Path(__file__).parent
FORMAT2 = HERE.parent / "golden" / "format2"
RESULTS = sorted((HERE.parent / "reports" / "golden").glob("*.json"))
TINY = ("--shadows", "2", "--tests", "2", "--train-rows", "4", "--targets", "1", "--attacks", "closest-record")
Arguments = list[str]


@dataclass(frozen=True)
class Case:
    """A command, and the table whose values must survive reading and writing."""

    kind: str
    arguments: tuple[str, ...]
    table: Path | None = None


def make(rng: random.Random, folder: Path) -> Case:
    """A random case."""
    kind = rng.choices(list(KINDS), weights=[weight for _, weight in KINDS.values()])[0]
    made = KINDS[kind][0](rng, folder)
    return made if isinstance(made, Case) else Case(kind, tuple(map(str, made)))


def _table(rng: random.Random, folder: Path) -> Case:
    names, rows = rows_of(rng)
    real = write_table(folder / "real.csv", rng, names, rows)
    out = folder / rng.choice(["out.csv", "out.csv.gz", "deep/er/out.csv"])
    synthetic = write_table(
        folder / "synthetic.csv", rng, names, rng.sample(rows, len(rows)) if rng.random() < 0.7 else rows[:3]
    )
    picked = rng.choice(names)
    command: Arguments = rng.choice([
        ["describe", real], ["describe", real, "--json"], ["describe", real, "--out", folder / "run"],
        ["schema", real], ["schema", real, "-o", folder / "s.json", "--bins", rng.choice(["1", "7", "250", "0"])],
        ["schema", real, "--secret", picked, "--key", rng.choice(names)], ["schema", real, "--person", picked,
        "--equal-width"],
        ["schema", real, "--identifier", picked],
        ["synthesize", real, "--generator", rng.choice(["random", "independent", "raw", "cart", "copula", "mixture"]), "-o",
        out],
        ["synthesize", real, "--generator", "random", "--rows", "5", "-o", real],
        ["filter", real, synthetic, "--filter", rng.choice(["similarity", "outlier"]), "-o", out],
    ])  # fmt: skip
    return Case("table", tuple(map(str, command)), real)


def _audit(rng: random.Random, folder: Path) -> Arguments:
    """An audit or its pre-flight; the holdout may be part of the real table, the release may lack columns or have others."""
    names, rows = rows_of(rng)
    cut = rng.choice([0, len(rows) // 2])  # 0: the holdout stands in the real table
    real = write_table(folder / "real.csv", rng, names, rows[cut:])
    holdout = write_table(folder / "holdout.csv", rng, names, rows[:cut] or rows[1::2])
    published = [name if rng.random() < 0.9 else f"{name}!" for name in names]
    synthetic = write_table(folder / "synthetic.csv", rng, published, rows[::2] + rows[:2])
    more: Arguments = rng.choice(
        [[], ["--holdout", holdout], ["--out", folder / "run"], ["--column", rng.choice(names)]]
    )
    if rng.random() < 0.5:
        return ["check", real, synthetic, "--fail-on", "none", *more]
    secret = rng.choice([[], ["--secret", rng.choice(names)]])
    return ["audit", real, synthetic, "--attempts", "20", "--fail-on", "none", *more, *secret]


def _game(rng: random.Random, folder: Path) -> Arguments:
    """A generator on an odd table, attacked."""
    names, rows = rows_of(rng)
    real = write_table(folder / "real.csv", rng, names, rows)
    generator = rng.choice(["random", "independent", "cart", "copula", "mixture", "sanitiser", "raw", "copycat"])
    attacks = rng.sample(
        ["closest-record", "naive", "histogram", "correlation", "density", "linear", "record-linkage", "gen-lra"], 2
    )
    if rng.random() < 0.5:
        chosen = [word for attack in attacks for word in ("--attacks", attack)]
        return ["attack", real, "--generator", generator, *TINY[:8], *chosen, "--fail-on", "none"]
    return ["everyone", real, "--generator", generator, "--runs", "8", "--fail-on", "none"]


def _plain_table(folder: Path, rng: random.Random) -> Path:
    path = folder / "plain.csv"
    lines = [
        f"{rng.randrange(18, 90)},{rng.choice('fm')},{rng.uniform(0, 9):.1f},2020-01-{rng.randrange(1, 29):02}"
        for _ in range(12)
    ]
    path.write_text("age,sex,pay,day\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


SCHEMAS: tuple[Any, ...] = (
    {"unmask_schema": 1, "origin": "public", "person": None, "identifiers": [], "keys": ["age"], "secrets": ["pay"],
    "columns": {
        "age": {"kind": "integer", "lower": 0, "upper": 120, "bins": 20, "missing": False},
        "sex": {"kind": "categorical", "values": ["f", "m"], "missing": [""], "groups": {"any": ["f", "m"]}, "ordered": True},
        "pay": {"kind": "continuous", "lower": 0, "upper": 10, "cuts": [1, 2.5], "missing": ["", "NA"], "dtype": "float64"},
        "day": {"kind": "datetime", "lower": "2020-01-01", "upper": "2020-12-31", "format": "%Y-%m-%d", "resolution": "D",
        "bins": 3},
    }},
    [{"name": "age", "type": "integer", "min": 0, "max": 99}, {"name": "sex", "type": "finite", "representation": ["f", "m"]},
     {"name": "pay", "type": "real", "representation": [0, 10]}, {"name": "day", "type": "finite", "representation": 3}],
    {"columns": [{"name": "age", "type": "Integer", "min": 0, "max": 99}, {"name": "sex", "type": "Categorical", "i2s": ["f",
    "m"]},
                 {"name": "pay", "type": "Float", "min": 0, "max": 10}, {"name": "day", "type": "CategoricalOrdered",
                 "i2s": ["a"]}]},
    {"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "primary_key": "age", "columns": {
        "age": {"sdtype": "id"}, "sex": {"sdtype": "categorical"}, "pay": {"sdtype": "numerical"},
        "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}}},
    {"tables": {"people": {"columns": {"age": {"sdtype": "numerical"}, "sex": {"sdtype": "boolean"}}}}},
)  # fmt: skip


def _schema(rng: random.Random, folder: Path) -> Arguments:
    real = _plain_table(folder, rng)
    path = folder / "schema.json"
    path.write_bytes(odd.as_json(odd.changed(rng.choice(SCHEMAS), rng, rng.choice([1, 1, 2, 4])), rng))
    return rng.choice([
        ["describe", real, "--schema", path], ["schema", real, "--from", path], ["schema", real, "--from", path, "-o",
        folder / "out.json"],
        ["synthesize", real, "--schema", path, "--generator", rng.choice(["random", "privbayes", "histogram", "mst"]), "-o",
        folder / "o.csv"],
        ["schema", path], ["schema", real, "-o", path],
    ])  # fmt: skip


PLANS: dict[str, dict[str, Any]] = {
    "attack": {"generator": "random", "settings": [], "targets": "1", "attacks": ["closest-record"], "shadows": 2, "tests": 2,
               "train_rows": 4, "seed": 0, "prior": 0.5, "confidence": 0.95, "goal": "membership", "isolate_targets": False,
               "possible": []},
    "audit": {"seed": 1, "attempts": 20, "keys": ["age"], "secrets": ["pay"], "confidence": 0.95},
    "everyone": {"generator": "random", "runs": 4, "seed": 0, "rate": 0.05, "groups": [], "scorer": "ratio"},
    "epsilon": {"generator": "histogram", "settings": ["epsilon=1"], "claim": "epsilon=1", "runs": 4, "seed": 2},
    "describe": {"seed": 3},
}  # fmt: skip


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return str(value) if isinstance(value, int) else json.dumps(value)


def _plan(rng: random.Random, folder: Path) -> Arguments:
    verb = rng.choice(list(PLANS))
    real = _plain_table(folder, rng)
    plan = odd.changed(PLANS[verb] | {"policy": {"high": 0.1}}, rng, rng.choice([1, 1, 2]))
    lines = (
        [f"{json.dumps(name)} = {_toml(value)}" for name, value in plan.items()]
        if isinstance(plan, dict)
        else [_toml(plan)]
    )
    text = "\n".join(lines).encode("utf-8", errors="surrogatepass")
    if rng.random() < 0.15:
        text = rng.choice(
            [odd.damaged(text, rng), b"seed = " + b"[" * 100_000, b"seed = " + b"9" * 5000, b"seed = 1e400", b"\xff"]
        )
    path = folder / "plan.toml"
    path.write_bytes(text)
    tables = [] if verb == "epsilon" else [real, real] if verb == "audit" else [real]
    written = ["--write-plan", folder / "again.toml"]
    sizes = plan.values() if isinstance(plan, dict) else ()
    long = any(isinstance(value, int | float) and value > 200 for value in sizes)  # as long as was asked for
    ends = written if long else rng.choice([written, written, ["--fail-on", "none"]])
    return [verb, *tables, "--plan", path, *(ends if verb not in ("describe",) else ends[:0])]


@cache
def _result(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _report(rng: random.Random, folder: Path) -> Arguments:
    runs = []
    for place in range(rng.choice([1, 1, 1, 2])):
        run = folder / f"run{place}"
        run.mkdir()
        plain = _result(rng.choice(RESULTS))
        plain = odd.changed(plain, rng, rng.choice([1, 2, 5])) if rng.random() < 0.4 else _poisoned(plain, rng)
        (run / "result.json").write_bytes(odd.as_json(plain, rng))
        if rng.random() < 0.3:
            (run / "records.csv").write_text(
                rng.choice(
                    [
                        "row,score\n1,2\n",
                        "row\n1,2\n",
                        "",
                        "\n\n",
                        'a,"b\n',
                        "=1+1,\x1b[31m\n-2+3,\x1b[31m\n",
                        "row,b\n" + "9" * 5000 + ",1\n",
                    ]
                ),
                encoding="utf-8",
            )
        if rng.random() < 0.3:
            (run / "run.json").write_bytes(
                odd.as_json(odd.changed({"command": ["unmask", "x"], "finished": "now"}, rng), rng)
            )
        runs.append(run)
    page = folder / "page.html"
    more = [["-o", page]] if len(runs) > 1 else [[], ["--json"], ["-o", page], ["-o", runs[0] / "result.json"]]
    return ["report", *runs, *rng.choice(more)]


def _poisoned(plain: Any, rng: random.Random) -> Any:
    """A result that can be read, with odd texts and numbers in it; what names a kind keeps its name."""
    made = odd.in_kind(plain, rng, rng.choice([0.01, 0.1, 0.5]))
    kept = (
        {"format": plain["format"], "policy": plain.get("policy")} if "policy" in plain else {"format": plain["format"]}
    )
    made |= kept
    for field, names in (
        ("findings", ("severity", "criterion")),
        ("grids", ("section", "kind", "roles")),
        ("series", ("section", "kind")),
    ):
        for new, old in zip(made.get(field, []), plain.get(field, []), strict=True):
            new |= {name: old[name] for name in names if name in old}
    return made


def _run_directory(rng: random.Random, folder: Path) -> Arguments:
    """A finished run of the format before, with a file or two damaged; its command is repeated."""
    commands = json.loads((FORMAT2 / "commands.json").read_text(encoding="utf-8"))
    verb = rng.choice([name for name in commands if name != "audit"])
    shutil.copytree(FORMAT2 / verb, folder / "run")
    files = [path for path in sorted((folder / "run").rglob("*")) if path.is_file()]
    special = [path for path in files if path.suffix in (".json", ".csv")]
    for path in (rng.choice(special if rng.random() < 0.7 else files) for _ in range(rng.choice([1, 2]))):
        if path.suffix == ".json" and rng.random() < 0.6:
            path.write_bytes(odd.as_json(odd.changed(json.loads(_text(path)), rng), rng))
        else:
            path.write_bytes(odd.damaged(path.read_bytes(), rng))
    if rng.random() < 0.4:
        return ["report", folder / "run"]
    files_of = {"real.csv", "synthetic.csv", "holdout.csv", "schema.json"}
    return [
        *(str(FORMAT2 / word) if word in files_of else word for word in commands[verb]),
        "--out",
        folder / "run",
        "--fail-on",
        "none",
    ]


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except (ValueError, RecursionError):
        return "{}"
    return text


def _pool(rng: random.Random, folder: Path) -> Arguments:
    """A pool that came back, with something wrong in it."""
    shutil.copytree(_exported(), folder / "pool")
    files = [path for path in sorted((folder / "pool").rglob("*")) if path.is_file()]
    private = [path for path in files if path.suffix in (".json", ".npz")]
    for path in (rng.choice(private if rng.random() < 0.7 else files) for _ in range(rng.choice([0, 1, 1, 2]))):
        if path.suffix == ".json" and rng.random() < 0.6:
            path.write_bytes(odd.as_json(odd.changed(json.loads(_text(path)), rng), rng))
        else:
            path.write_bytes(odd.damaged(path.read_bytes(), rng))
    return [
        "pool",
        "attack",
        folder / "pool",
        "--fail-on",
        "none",
        *rng.choice([[], ["--out", folder / "run"], ["--strict"]]),
    ]


@cache
def _exported() -> Path:
    """A small pool, with synthetic files in it; made once."""
    import tempfile

    import unmask
    from unmask.audits.foreign.export import export_pool

    folder = Path(tempfile.mkdtemp(prefix="unmask-fuzz-pool-"))
    real = unmask.read_table(_plain_table(folder, random.Random(0)))
    export_pool(real, folder / "pool", runs=8, seed=1)
    for path in sorted((folder / "pool" / "train").glob("*.csv")):
        lines = path.read_text(encoding="utf-8").splitlines()
        wanted = json.loads((folder / "pool" / "manifest.json").read_text(encoding="utf-8"))["rows"]
        body = [lines[1:][place % (len(lines) - 1)] for place in range(wanted)]
        (folder / "pool" / "synthetic" / path.name).write_text("\n".join([lines[0], *body]) + "\n", encoding="utf-8")
    return folder / "pool"


OPTIONS = ("--seed", "--rows", "--workers", "--time-budget", "--out", "-o", "--schema", "--plan", "--write-plan",
"--generator", "--set",
           "--targets", "--attacks", "--shadows", "--tests", "--train-rows", "--claim", "--runs", "--rate", "--policy",
           "--filter",
           "--fail-on", "--holdout", "--secret", "--key", "--bins", "--python-path", "--confidence", "--prior",
           "--export-scores", "--pool",
           "--junit", "--from", "--subsample", "--coins", "--attempts", "--name", "--person", "--possible")  # fmt: skip
WORDS = ("epsilon=1", "epsilon=1e400", "epsilon=nan", "rows:0", "rows:999", "rows:1e9", "unlikely:3", "random:0", "1h", "0s",
"1e999h", "random",
         "histogram", "histogram:epsilon=1", "privbayes:epsilon=-1", "no.such:Class", "json:loads", "json:JSONDecoder", ":",
         "a:", ":b", "..:x",
         "command:", "command: true {train} {out}", "command: /no/such {train} {out}", "command: 'x", "all", "closest-record",
         "similarity:radius=1e308", "outlier:share=2", "x" * 5000, "a/" * 2500, "10" * 200, "queries:order=10",
         "histogram:classifier=os:system",
         "./never.py:X", "never.py:X", "sdv:synthesizer=X", "copycat:share=2", "add-remove", "replace")  # fmt: skip


def _options(rng: random.Random, folder: Path) -> Arguments:
    verb: list[str] = rng.choice([["describe"], ["schema"], ["synthesize"], ["attack", *TINY], ["everyone"], ["epsilon"],
    ["filter"], ["audit"],
                       ["report"], ["pool", "export"], ["pool", "attack"], ["generators"], ["nonsense"], ["demo",
                       "--write-plan"]])  # fmt: skip
    real = str(_plain_table(folder, rng))
    tables = [real] * {"audit": 2, "filter": 2, "epsilon": 0, "generators": 0, "demo": 0}.get(verb[0], 1)
    more: list[str] = []
    if verb[0] in ("attack", "everyone", "epsilon", "synthesize") and rng.random() < 0.9:
        more += ["--generator", rng.choice(["random", "independent", "histogram", rng.choice(WORDS)])]
    if verb[0] == "everyone":
        more += ["--runs", "4"]
    if verb[0] == "epsilon":
        more += ["--runs", "4", "--set", "epsilon=1"]
    if verb[0] in ("synthesize", "filter") and rng.random() < 0.9:
        more += ["-o", str(folder / "o.csv")]
    if verb == ["pool", "export"]:
        more += ["--out", str(folder / "pool"), "--runs", "8"]
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        value = rng.choice(
            [
                rng.choice(WORDS),
                rng.choice(odd.TEXTS),
                str(rng.choice(odd.NUMBERS)),
                str(folder),
                real,
                str(folder / "new"),
            ]
        )
        more += [rng.choice(OPTIONS), value]
    return [*verb[:2], *tables, *verb[2:], *(_inside(word, folder) for word in more)]


def _inside(word: str, folder: Path) -> str:
    """No NUL, which no command line can hold; outputs stay in the folder of the case."""
    return word.replace("\0", "")


KINDS: dict[str, tuple[Callable[[random.Random, Path], Any], int]] = {
    "table": (_table, 26),
    "schema": (_schema, 22),
    "report": (_report, 18),
    "plan": (_plan, 14),
    "options": (_options, 14),
    "run directory": (_run_directory, 6),
    "pool": (_pool, 3),
    "audit": (_audit, 4),
    "game": (_game, 5),
}
