"""The same people in other shapes of file and frame get the verdict of the plain CSV."""

import gzip

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release.audit import audit
from unmask.datasets import adult
from unmask.results.policy import Severity

ROLES = ("real", "synthetic", "holdout")
CITIES = ("Köln", "Zürich", "Málaga", "Orléans", "Bonn")


@pytest.fixture(scope="module")
def people():
    """Real, synthetic and holdout frames of Adult with accents, amounts and dates; half of the release is copied."""
    rng = np.random.default_rng(5)
    frame = adult().take(rng.permutation(40_000)[:480]).to_pandas()
    frame = frame[["age", "workclass", "education", "sex", "hours-per-week"]].reset_index(drop=True)
    frame["city"] = rng.choice(CITIES, len(frame))
    frame["pay"] = rng.lognormal(8, 1, len(frame)).round(2)
    frame["born"] = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, len(frame)), unit="D")
    real, fresh, holdout = (frame[start : start + 160].reset_index(drop=True) for start in (0, 160, 320))
    return dict(zip(ROLES, (real, pd.concat([real[:80], fresh[:80]], ignore_index=True), holdout), strict=True))


def texts(frame):
    """All values as the plain CSV has them."""
    return frame.assign(born=frame["born"].dt.strftime("%Y-%m-%d"))


def csv(frame, **how):
    return texts(frame).to_csv(index=False, lineterminator="\n", **how)


def written(text):
    return lambda frame, path: path.write_bytes(text(frame))


def with_commas(frame):
    """As a spreadsheet in Germany saves it: semicolons, decimal commas, points between thousands, day first."""
    told = frame.assign(
        pay=[f"{pay:,.2f}".translate(str.maketrans(",.", ".,")) for pay in frame["pay"]],
        born=frame["born"].dt.strftime("%d.%m.%Y"),
    )
    return told.to_csv(index=False, sep=";").encode("utf-8-sig")


def with_thousands(frame):
    told = frame.assign(pay=[f"{pay:,.2f}" for pay in frame["pay"]], born=frame["born"].dt.strftime("%m/%d/%Y"))
    return told.to_csv(index=False).encode()


FILES = {
    "semicolon": (".csv", written(lambda frame: csv(frame, sep=";").encode())),
    "bar": (".csv", written(lambda frame: csv(frame, sep="|").encode())),
    "BOM": (".csv", written(lambda frame: csv(frame).encode("utf-8-sig"))),
    "UTF-16": (".csv", written(lambda frame: csv(frame).encode("utf-16"))),
    "latin-1": (".csv", written(lambda frame: csv(frame).encode("latin-1"))),
    "CRLF": (".csv", written(lambda frame: csv(frame).replace("\n", "\r\n").encode())),
    "gz": (".csv.gz", written(lambda frame: gzip.compress(csv(frame).encode()))),
    "TSV": (".tsv", written(lambda frame: csv(frame, sep="\t").encode())),
    "all quoted": (".csv", written(lambda frame: csv(frame, quoting=1).encode())),
    "Parquet": (".parquet", lambda frame, path: frame.to_parquet(path)),
    "decimal commas, day first": (".csv", written(with_commas)),
    "thousands, month first": (".csv", written(with_thousands)),
}


def save(people, folder, suffix, write):
    paths = {role: folder / f"{role}{suffix}" for role in ROLES}
    for role, path in paths.items():
        write(people[role], path)
    return paths


def judged(real, synthetic, holdout):
    return audit(real, synthetic, holdout=holdout, attempts=20, secrets=("workclass",), seed=3, workers=1)


def findings(result):
    return result.to_plain()["findings"]


@pytest.fixture(scope="module")
def plain(people, tmp_path_factory):
    paths = save(people, tmp_path_factory.mktemp("plain"), ".csv", written(lambda frame: csv(frame).encode()))
    return judged(**paths)


def test_the_plain_release_leaks(plain):
    assert plain.severity is Severity.HIGH
    assert len(plain.findings) >= 5


@pytest.mark.parametrize("shape", FILES)
def test_files_of_another_shape_have_the_same_findings(people, plain, shape, tmp_path):
    if shape == "Parquet":
        pytest.importorskip("pyarrow")
    result = judged(**save(people, tmp_path, *FILES[shape]))
    assert findings(result) == findings(plain)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_have_the_same_findings(people, plain, library):
    module = pytest.importorskip(library)
    make = {"pandas": lambda frame: frame, "polars": lambda frame: module.from_pandas(frame)}.get(
        library, lambda frame: module.Table.from_pandas(frame)
    )
    assert findings(judged(**{role: make(frame) for role, frame in people.items()})) == findings(plain)


@pytest.mark.parametrize("role", ["synthetic", "holdout"])
def test_a_file_of_another_shape_than_the_real_one_has_the_same_findings(people, plain, role, tmp_path):
    """Synthetic: decimal commas and day first beside points and ISO dates. Holdout: another delimiter and encoding."""
    paths = save(people, tmp_path, ".csv", written(lambda frame: csv(frame).encode()))
    paths[role].write_bytes(
        with_commas(people[role]) if role == "synthetic" else csv(people[role], sep="\t").encode("utf-16")
    )
    result = judged(**paths)
    assert findings(result) == findings(plain)
    if role == "synthetic":
        assert any(
            "column 'pay' is written with points between thousands and decimal commas here" in note
            for note in result.notes
        )
        assert any("column 'born' is written as '%d.%m.%Y' here and not as '%Y-%m-%d'" in note for note in result.notes)


def test_a_plain_synthetic_file_beside_a_real_one_with_commas(people, plain, tmp_path):
    paths = save(people, tmp_path, ".csv", written(with_commas))
    paths["synthetic"].write_bytes(csv(people["synthetic"]).encode())
    result = judged(**paths)
    assert findings(result) == findings(plain)
    assert any(note == "real.csv: column 'born' holds dates written as '%d.%m.%Y'." for note in result.notes)


def test_the_order_of_columns_does_not_matter(people, plain):
    shuffled = people | {role: people[role][people[role].columns[::-1]] for role in ("synthetic", "holdout")}
    assert findings(judged(**shuffled)) == findings(plain)
    everywhere = judged(**{role: frame[frame.columns[::-1]] for role, frame in people.items()})
    assert everywhere.severity is plain.severity


def test_several_synthetic_files_have_the_same_verdict(people, plain, tmp_path):
    paths = save(people, tmp_path, ".csv", written(lambda frame: csv(frame).encode()))
    parts = []
    for place in range(3):
        parts.append(tmp_path / f"part{place}.csv")
        parts[-1].write_text(csv(people["synthetic"][place::3]), encoding="utf-8")
    result = judged(paths["real"], parts, paths["holdout"])
    worst = {finding.criterion for finding in plain.findings if finding.severity is Severity.HIGH}
    assert result.severity is plain.severity
    assert worst <= {finding.criterion for finding in result.findings if finding.severity is Severity.HIGH}
