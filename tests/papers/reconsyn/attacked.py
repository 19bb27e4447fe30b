"""ReconSyn on one of the paper's settings: shares of the wanted records, rows read, calls and CPU by stage."""

import copy
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from unmask import generators
from unmask.attacks.reconstruction.asked_rows import EMPTY, AskedRows
from unmask.attacks.reconstruction.enumerate import SMALL, domain_size, enumerate_domain
from unmask.attacks.reconstruction.guided_search import Likelihoods, guided_search
from unmask.attacks.reconstruction.padding import Reader, find_padding
from unmask.attacks.reconstruction.sample import candidates, locate, nothing, sample_attack
from unmask.attacks.reconstruction.search import search_attack
from unmask.datasets import Challenge, gaussian
from unmask.datasets.challenges import BINS, SIDE
from unmask.simulation.provider import Provider

GENERATORS = {
    "bayesnet": "bayesnet:degree=2",
    "privbayes": "privbayes:epsilon=1000,degree=2",
    "mst": "mst:epsilon=1000",
}
SEEDS = 3
BLOCK = 50  # rounds that are asked about together
CURVE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


@dataclass(frozen=True)
class Fresh:
    """Draws from the true normal distribution: the paper's oracle, which knows nobody."""

    def fit(self, table, rng):
        return self

    def sample(self, rows, rng):
        return gaussian(2, rows, seed=int(rng.integers(2**31)), limit=SIDE, bins=BINS)


@dataclass(frozen=True)
class Attack:
    """Who is wanted and how: shared mixture, own clusters or any record; rounds, distance of the search, and searches."""

    wanted: str
    rounds: int
    distance: int
    searches: tuple[str, ...] = ("guided",)


Look = Callable[[Challenge, np.ndarray, AskedRows], dict]


def nothing_more(made: Challenge, records: np.ndarray, asked: AskedRows) -> dict:
    """For those who need shares only."""
    return {}


def attacked(
    made: Challenge, name: str, generator: str, how: Attack, seed: int, look: Look = nothing_more
) -> pd.DataFrame:
    """A line per stage, and the curve over rounds. `look` may add to each line what records and rows asked about show."""
    rng = np.random.default_rng([seed, 17])
    fitted = (Fresh() if generator == "fresh" else generators.parse(generator)).fit(made.train, rng)
    oracle = Provider(fitted, made.train, made.holdout, rng)
    targets, size = made.targets, len(made.train)
    region, coverage = made.outliers, 1.0
    if how.wanted == "own clusters":
        region = locate(oracle, size, int(targets.sum()), clusters=made.clusters, scale=made.scale, rng=rng)
        coverage = float(region.holds(made.train.codes[targets]).mean())
    elif how.wanted == "any record":
        region = None
    start = time.process_time()
    reader, history = Reader(oracle, find_padding(oracle, rng)), AskedRows(oracle.schema, rng)
    sampled, learnt = nothing(made.train.codes.shape[1], made.train.codes.dtype), []
    for low in range(0, how.rounds, BLOCK):
        streams = [np.random.default_rng([seed, each]) for each in range(low, min(how.rounds, low + BLOCK))]
        codes, rounds = candidates(oracle, size, streams, region)
        learnt += [codes] if sum(map(len, learnt)) < 20_000 else []
        sampled += sample_attack(reader, history, codes, rounds + low)
    base = {"data": made.name, "generator": name, "wanted": how.wanted, "seed": seed, "coverage": coverage}
    base |= {"outliers": int(targets.sum()), "rounds": how.rounds}
    lines = [base | _line("sample", made, sampled.codes, reader.read, time.process_time() - start)]
    lines[0] |= look(made, sampled.codes, history)
    for round_ in [each for each in CURVE if each < how.rounds] + [how.rounds]:
        hit = _shares(made, sampled.codes[sampled.rounds < round_])
        lines.append(base | {"stage": "curve", "at": round_, "of outliers": hit[0], "of all": hit[1]})
    for search in how.searches:
        again, own, start = copy.deepcopy(history), Reader(oracle, reader.padding), time.process_time()
        if search == "paper":
            found = search_attack(own, again, distance=how.distance, region=region)
        else:
            reach = made.train.codes.shape[1] if search == "far" else how.distance
            likelihoods = Likelihoods.of(oracle.schema, np.concatenate(learnt)[:20_000])
            found = guided_search(own, again, likelihoods, found=sampled.codes, distance=reach, region=region)
            if search == "swept" and domain_size(oracle.schema) <= SMALL:
                found += enumerate_domain(own, again, region)
        records = np.concatenate([sampled.codes, found.codes])
        line = _line(search, made, records, own.read, time.process_time() - start)
        lines.append(base | line | look(made, records, again))
    return pd.DataFrame(lines)


def _line(stage: str, made: Challenge, found: np.ndarray, read: int, seconds: float) -> dict:
    outliers, everybody = _shares(made, found)
    false = len(found) - int((_places(found, made.train.codes, made) != EMPTY).sum())
    return {
        "stage": stage, "of outliers": outliers, "of all": everybody, "read": read, "false": false, "CPU s": seconds,
    }  # fmt: skip


def _shares(made: Challenge, found: np.ndarray) -> tuple[float, float]:
    hit = _places(made.train.codes, found, made) != EMPTY
    return float(hit[made.targets].mean()), float(hit.mean())


def _places(rows: np.ndarray, among: np.ndarray, made: Challenge) -> np.ndarray:
    history = AskedRows(made.train.schema, np.random.default_rng(0))
    among = among[history.fresh(among)]
    history.add(among, np.zeros(len(among), dtype=np.int16))
    return history.known(rows)


def over_seeds(values: Iterable[float], digits: int = 2) -> str:
    """Mean over seeds, and their range where they differ."""
    numbers = [float(value) for value in values if value == value]
    if not numbers:
        return "–"
    mean, low, high = np.mean(numbers), min(numbers), max(numbers)
    text = f"{mean:.{digits}f}"
    return text if f"{low:.{digits}f}" == f"{high:.{digits}f}" else f"{text} ({low:.{digits}f} to {high:.{digits}f})"
