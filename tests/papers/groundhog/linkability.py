"""The linkability game of section 4, as the paper plays it: the measurements behind figures 2, 3, 4, 12 and 15.

n = m = 1000, one target at a time, an attacker who holds 10,000 people and trains on the same tables with the target and
without. Each mechanism on each population is one game that the figures share.
"""

import pandas as pd

from tests.papers.experiment import Terms, joined
from tests.papers.games import linkability
from tests.papers.groundhog.people import People
from tests.papers.groundhog.shared import FEATURES, SANITISER

REFERENCE_ROWS = 10_000  # l of the paper
SHADOWS, TESTS = 120, 150
ALONE = "linkage alone"
LINKED = {**{f"link-then-classify:by={name}": name for name in FEATURES}, "record-linkage": ALONE}


def outliers(terms: Terms, people: People, generator: str, *, domain: str = "public", rows: int = 1000) -> pd.DataFrame:
    """Every feature set against every outlier; sanitised tables are linked first."""
    name = "-".join(["groundhog-game", people.name, generator, domain, str(rows)]).lower().replace(":", "-")
    return terms.once(name, lambda: _played(terms, people, generator, people.outliers, domain, rows))


def random_people(terms: Terms, people: People, generator: str) -> pd.DataFrame:
    """The same game about five random people."""
    name = f"groundhog-game-{people.name}-random-{generator}".lower()
    return terms.once(name, lambda: _played(terms, people, generator, "random:5", "public", 1000))


def _played(terms: Terms, people: People, generator: str, targets: str, domain: str, rows: int) -> pd.DataFrame:
    found = linkability(
        generator, people.table(terms.data), tuple(LINKED) if generator == SANITISER else FEATURES, targets=targets,
        domain=domain, train_rows=rows, isolate_targets=True, shadow_tables="paired", reference_rows=REFERENCE_ROWS,
        shadows=terms.times(SHADOWS), tests=terms.times(TESTS), workers=1, seed=terms.seed,
    )  # fmt: skip
    kept = found[
        ["row", "group", "attack", "advantage", "low", "high", "privacy gain", "AUC", "TPR", "FPR", "epsilon >="]
    ]
    return kept.assign(
        attack=[LINKED.get(name, name) for name in kept["attack"]],
        people=people.name, generator=generator, domain=domain, n=rows,
    )  # fmt: skip


def all_outliers(terms: Terms, populations, generators, domains=("public",)) -> pd.DataFrame:
    """Several such games; a sanitiser has no domain to learn."""
    return joined(
        outliers(terms, people, generator, domain=domain)
        for people in populations
        for generator in generators
        for domain in domains
        if domain == "public" or generator != SANITISER
    )
