"""What the audit of a release finds where the truth is known: planted copies, generators, shifted holdouts, and no leak at all.

`python -m benchmarks release_leaks` prints everything (an hour); `python -m benchmarks.release_leaks planted 0-19` one part, for
some seeds. Tables come from the bundled Adult and, where they are at hand, from UNMASK_DATA.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from unmask import datasets, generators, read_table
from unmask.audits.release.audit import CHECKS
from unmask.audits.release.case import Case
from unmask.audits.release.copies import copies_part
from unmask.audits.release.criteria import criteria_part
from unmask.audits.release.leading.crowd import Crowd
from unmask.audits.release.leading.judging import led
from unmask.audits.release.leading.naming import named
from unmask.audits.release.membership import membership_part
from unmask.audits.release.numbers import numbers_part
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.scoring import score_all, sides_of
from unmask.audits.release.soundness import CHANCE, SURE, blind_auc
from unmask.audits.release.tables import Release, read_release
from unmask.stats import auc
from unmask.tables.table import Table, concatenate

FAMILIES = tuple(family for check in CHECKS for family in check.families)


@cache
def table(name: str) -> Table:
    """A population: the bundled Adult, or one of the tables for tests."""
    data = Path(os.environ.get("UNMASK_DATA", "../shared/data"))
    if name == "adult":
        return datasets.adult()
    if name == "adult-few":
        return datasets.adult().select(["age", "workclass", "education", "sex", "income"])
    if name == "households":
        return households()
    frames = {
        "texas": lambda: pd.read_csv(data / "texas/texas.csv.gz", dtype={"PAT_AGE": str}),
        "ons": lambda: pd.read_csv(data / "ons_census2011/2011-census-microdata-small.csv.gz").drop(
            columns=["Person ID"]
        ),
        "census": lambda: pd.read_csv(data / "census_kdd/census_income_kdd_train.csv.gz").drop(
            columns=["instance_weight"], errors="ignore"
        ),
        "insurance": lambda: pd.read_csv(next((data).glob("insurance/*.csv*"))),
        "bike": lambda: pd.read_csv(next((data).glob("bike*/*.csv*"))).drop(columns=["instant", "dteday"]),
    }
    return read_table(frames[name]())


def households() -> Table:
    """Two adults each: the second shares seven columns with the first, fnlwgt among them, but is a person apart."""
    people, rng = datasets.adult(), np.random.default_rng(4)
    order = rng.permutation(len(people))[: len(people) // 2 * 2]
    first, second = people.take(order[::2]), people.take(order[1::2])
    codes, numbers = second.codes.copy(order="F"), second.numbers.copy(order="F")
    for column in ("workclass", "marital-status", "race", "native-country", "education", "education-num", "fnlwgt"):
        position = people.schema.position(column)
        codes[:, position] = first.codes[:, position]
        if position in people.schema.numeric:
            place = people.schema.numeric.index(position)
            numbers[:, place] = first.numbers[:, place]
    return concatenate([replace(first, notes=()), replace(second, codes=codes, numbers=numbers, notes=())])


def changed(rows: Table, donors: Table, columns: int, rng: np.random.Generator) -> Table:
    """Rows with some columns each replaced by those of random donors."""
    chosen = [rng.choice(rows.codes.shape[1], columns, replace=False) for _ in range(len(rows))]
    mask = np.zeros(rows.codes.shape, dtype=bool)
    for row, places in enumerate(chosen):
        mask[row, places] = True
    return mixed(rows, donors, mask, rng)


def mixed(rows: Table, donors: Table, mask: np.ndarray, rng: np.random.Generator) -> Table:
    """Rows whose masked values come from random donors, column by column."""
    codes, numbers = rows.codes.copy(order="F"), rows.numbers.copy(order="F")
    place = {position: at for at, position in enumerate(rows.schema.numeric)}
    for column in range(mask.shape[1]):
        at = np.flatnonzero(mask[:, column])
        donor = rng.integers(len(donors), size=len(at))
        codes[at, column] = donors.codes[donor, column]
        if column in place:
            numbers[at, place[column]] = donors.numbers[donor, place[column]]
    return replace(rows, codes=codes, numbers=numbers, notes=(), persons=None)


def planted(seed: int, rate: float, columns: int, *, size: int = 1_000) -> tuple[Release, np.ndarray]:
    """Fresh rows of Adult, a share of them real rows with some columns changed; and whose rows those are."""
    population, rng = table("adult"), np.random.default_rng([seed, 77])
    order = rng.permutation(len(population))
    real, holdout, fresh = (population.take(order[k * size : (k + 1) * size]) for k in range(3))
    who = rng.choice(size, round(rate * size), replace=False)
    rows = changed(real.take(who), real, columns, rng)
    return Release(
        real, (concatenate([replace(fresh.take(np.arange(size - len(who))), notes=()), rows]),), holdout
    ), who


def case_of(release: Release, seed: int) -> Case:
    """The case of a release with the usual plan."""
    return Case(release, ReleasePlan(seed=seed), FAMILIES)


def show_planted(seeds: range) -> None:
    """How often plants are found (by what leads, and by the test for copies), and how many people are named, rightly."""
    for rate, columns in ((0.03, 0), (0.03, 1), (0.03, 2), (0.03, 3), (0.01, 0), (0.0, 0)):
        found: Counter[str] = Counter()
        for seed in seeds:
            case = case_of(planted(seed, rate, columns)[0], seed)
            each = {one.name: one.severity for one in led(case)} | {
                one.name: one.severity for one in copies_part(case).findings
            }
            found.update(name for name, severity in each.items() if severity.rank)
            found["any"] += any(severity.rank for severity in each.values())
        print(f"{rate:.0%} planted, {columns} columns changed, of {len(seeds)} seeds: {dict(found)}", flush=True)
    for columns in (0, 1, 2):
        right, wrong = [], []
        for seed in seeds:
            release, who = planted(seed, 0.05, columns)
            listing = named(Crowd.of(release, seed, 5_000), rate=0.10, seed=seed).rejected
            right.append(listing[who].mean())
            wrong.append((listing.sum() - listing[who].sum()) / max(1, listing.sum()))
        print(
            f"5 % planted, {columns} changed: {np.mean(right):.2f} named, false discovery rate {np.mean(wrong):.3f}",
            flush=True,
        )


def show_ladder(seeds: range) -> None:
    """One synthetic row per person, each value replaced with some probability: AUC of what leads."""
    for name in ("adult", "texas", "ons"):
        population, size = table(name), 6_000
        for probability in (0.1, 0.3, 0.5, 0.7, 0.9):
            rng = np.random.default_rng([seeds.start, 9])
            order = rng.permutation(len(population))
            real, holdout = population.take(order[:size]), population.take(order[size : 2 * size])
            synthetic = mixed(real, real, rng.random(real.codes.shape) < probability, rng)
            print(
                name,
                f"replaced with probability {probability}:",
                _areas(Release(real, (synthetic,), holdout)),
                flush=True,
            )


def show_generators(seeds: range) -> None:
    """Generators on 5,000 people of Adult: AUC of what leads against what attackers have of their own, and the verdict."""
    population, size = table("adult"), 5_000
    for name in ("cart", "copula", "bayesnet", "privbayes:epsilon=1", "mst:epsilon=1"):
        for seed in seeds:
            rng = np.random.default_rng([seed, 11])
            order = rng.permutation(len(population))
            real, holdout = population.take(order[:size]), population.take(order[size : 2 * size])
            synthetic = generators.parse(name).fit(real, rng).sample(size, rng)
            release = Release(real, (synthetic,), holdout)
            own = {
                one.name: round(auc(one.members, one.controls).value, 3)
                for one in score_all(sides_of(real, holdout, seed), synthetic, seed)
            }
            print(
                name,
                seed,
                _areas(release),
                {"best of the others": max(own.values())},
                *findings(release, seed),
                flush=True,
            )


def _areas(release: Release, seed: int = 0) -> dict[str, float]:
    crowd = Crowd.of(release, seed, 5_000)
    scores = {"learnt": crowd.learnt, "linkage": crowd.linkage, "blind": crowd.blind}
    return {name: round(auc(s[crowd.members], s[~crowd.members]).value, 3) for name, s in scores.items()}


def findings(release: Release, seed: int) -> tuple[list[str], bool, int]:
    """What the parts that can find a leak find, whether the tables differ by themselves, and how many people are named."""
    case = case_of(release, seed)
    parts = [copies_part(case), membership_part(case), numbers_part(case), criteria_part(case)]
    found = [f"{one.name}: {one.severity}" for part in parts for one in part.findings if one.severity.rank]
    blind = blind_auc(case.crowd, confidence=SURE)
    people = int(named(case.crowd, rate=0.10, seed=seed).rejected.sum())
    return found, blind.low > CHANCE, people


def fresh(name: str, size: int, held: float, seed: int) -> Release:
    """Real, holdout and synthetic people of one population: nothing can leak. A small population gives smaller tables."""
    population, rng = table(name), np.random.default_rng([seed, size, 3])
    wanted = np.array([size, max(20, round(held * size)), size], dtype=float)
    sizes = np.floor(wanted * min(1.0, len(population) / wanted.sum())).astype(int)
    order = np.split(rng.permutation(len(population)), np.cumsum(sizes))
    real, holdout, synthetic = (population.take(rows) for rows in order[:3])
    return Release(real, (synthetic,), holdout)


def show_fresh(
    seeds: range,
    names: tuple[str, ...] = ("adult", "adult-few", "households", "texas", "ons", "census", "insurance", "bike"),
) -> None:
    """Findings, confounding and names where nothing can leak."""
    for name in names:
        for size, held in ((200, 1.0), (1_000, 1.0), (1_000, 0.2), (100, 30.0), (5_000, 1.0)):
            alarms: Counter[str] = Counter()
            people = confounded = leaks = 0
            for seed in seeds:
                found, differs, count = findings(fresh(name, size, held, seed), seed)
                leaks += bool(found) and not differs
                confounded += differs
                people += count if not differs else 0
                alarms.update(found)
            print(
                name,
                size,
                held,
                f"of {len(seeds)}: findings {leaks}, confounded {confounded}, named {people}",
                dict(alarms),
                flush=True,
            )


def shifted(seed: int, share: float, *, size: int = 1_000) -> Release:
    """A holdout in which one margin has moved: so many of the people over 50 are missing, and nothing leaks."""
    population, rng = table("adult"), np.random.default_rng([seed, 5])
    order = rng.permutation(len(population))
    rest = order[2 * size :]
    old = population.numbers[rest, population.schema.numeric.index(population.schema.position("age"))] > 50
    rest = rest[~old | (rng.random(len(rest)) >= share)]
    return Release(
        population.take(order[:size]), (population.take(order[size : 2 * size]),), population.take(rest[:size])
    )


def modal(seed: int, gap: float, *, size: int = 2_000) -> Release:
    """Four keys, four hidden columns; 60 in 100 people have the same hidden values, fewer by `gap` in the holdout. No leak."""
    rng = np.random.default_rng([seed, 6])

    def people(share: float) -> pd.DataFrame:
        same, columns = rng.random(size) < share, {}
        for name in ("k0", "k1", "k2", "k3", "h0", "h1", "h2", "h3"):
            usual = same & (rng.random(size) < (0.5 if name[0] == "k" else 1.0))
            columns[name] = np.where(usual, "v0", np.char.add("v", rng.integers(0, 4, size).astype(str)))
        return pd.DataFrame(columns)

    real, synthetic, holdout = people(0.6), people(0.6), people(0.6 - gap)
    return read_release(real, synthetic, holdout, None, keys=("k0", "k1", "k2", "k3"))


def show_shift(seeds: range) -> None:
    """Findings where the holdout differs by itself and nothing leaks; and years of a survey against each other."""
    for share in (0.0, 0.01, 0.02, 0.05, 0.10, 0.5, 0.9):
        _shift_line(f"{share:.0%} of the people over 50 missing", [shifted(seed, share) for seed in seeds], seeds)


def _shift_line(what: str, releases: list[Release], seeds: range) -> None:
    seen = [findings(release, seed) for release, seed in zip(releases, seeds, strict=True)]
    leaks = sum(bool(found) and not differs for found, differs, _ in seen)
    kinds = Counter(name for found, differs, _ in seen if not differs for name in found)
    print(
        f"{what}, of {len(seeds)}: findings {leaks} {dict(kinds)}, confounded {sum(differs for _, differs, _ in seen)}",
        flush=True,
    )


PARTS = {
    "planted": show_planted,
    "ladder": show_ladder,
    "generators": show_generators,
    "shift": show_shift,
    "fresh": show_fresh,
}


def main() -> None:
    """Print everything."""
    for name, part in PARTS.items():
        part(range(1 if name in ("ladder", "generators") else 20))


if __name__ == "__main__":
    asked, (low, high) = sys.argv[1], sys.argv[2].split("-")
    chosen = {"names": tuple(sys.argv[3].split(","))} if len(sys.argv) > 3 else {}
    PARTS[asked](range(int(low), int(high) + 1), **chosen)
