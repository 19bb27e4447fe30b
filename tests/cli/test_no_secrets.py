"""A rare surname, an id and a diagnosis of one person stand in no file that is meant to be shared, whatever the verb."""

import numpy as np
import pytest

import unmask as package
from tests.cli.test_cli import unmask

SECRETS = ("Zuckschwerdt", "48151623", "porphyria")
LOCAL = "records.csv"  # for those who may see the real table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    rng = np.random.default_rng(4)
    columns = ["age", "sex", "education", "income"]
    frame = package.datasets.adult().to_pandas().sample(360, random_state=3).reset_index(drop=True)[columns]
    letters = np.array(list("abcdefghij"))
    frame["surname"] = ["".join(rng.choice(letters, 8)) for _ in range(360)]
    frame["patient"] = rng.choice(10**8, 360, replace=False)
    frame["diagnosis"] = rng.choice(["cough", "cold", "flu"], 360)
    frame.loc[7, ["surname", "patient", "diagnosis"]] = [SECRETS[0], int(SECRETS[1]), SECRETS[2]]
    for start, name in ((0, "real"), (120, "holdout"), (240, "synthetic")):
        part = frame[start : start + 120].reset_index(drop=True)
        if name == "synthetic":
            part.loc[:29, ["surname", "patient", "diagnosis"]] = frame.loc[:29, ["surname", "patient", "diagnosis"]]
        part.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["check", "real.csv", "synthetic.csv", "--holdout", "holdout.csv"],
        ["audit", "real.csv", "synthetic.csv", "--holdout", "holdout.csv", "--attempts", "20", "--secret", "diagnosis"],
        ["utility", "real.csv", "synthetic.csv", "--repeats", "2"],
        ["describe", "real.csv"],
        ["attack", "real.csv", "--generator", "independent", "--targets", "rows:7", "--shadows", "8", "--tests", "16",
         "--train-rows", "40",
         "--attacks", "queries:order=1"],
        ["everyone", "real.csv", "--generator", "independent", "--runs", "16", "--workers", "1"],
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_no_secret_of_a_person_is_shared(folder, command):
    verb, *rest = command
    files = [folder / word if word.endswith(".csv") else word for word in rest]
    out = folder / verb
    answer = unmask(verb, *files, "--out", out)
    assert answer.returncode in (0, 1), answer.stderr
    shared = {
        path.name: path.read_text(encoding="utf-8") for path in out.iterdir() if path.is_file() and path.name != LOCAL
    }
    assert {"report.html", "result.json", "summary.md"} <= set(shared)
    shared |= {"the terminal": answer.stdout + answer.stderr}
    for name, text in shared.items():
        for secret in SECRETS:
            assert secret not in text, f"{secret} stands in {name}"
