"""What declared noise says about a pair: the ratio against a naive sum over all cells, and the most there is to see."""

import numpy as np
import pytest

from unmask.attacks.claim.likelihood import PairLikelihood
from unmask.generators import get, parse
from unmask.generators._counts import joint
from unmask.generators.claim import Neighbours
from unmask.generators.histogram import Histogram
from unmask.generators.privbayes import PrivBayes
from unmask.threats.pairs import WorstCase, parse_pair


@pytest.mark.parametrize(
    ("name", "text"), [("histogram", "narrow"), ("privbayes", "worst-case"), ("independent:epsilon=2", "tiny")]
)
def test_the_ratio_equals_the_ratio_of_all_cells(name, text):
    """Only changed cells matter: the naive sum over every cell of every measurement gives the same."""
    generator = parse(name)
    pair = parse_pair(text).build(generator.claim.neighbours, None, 0)
    likelihood = PairLikelihood(pair)
    for seed in range(5):
        model = generator.fit(pair.inside, np.random.default_rng(seed))
        naive = 0.0
        for m in model.measurements:
            inside, outside = (joint(t.codes, m.columns, t.schema.sizes) for t in (pair.inside, pair.outside))
            naive += float((np.abs(m.counts - outside) - np.abs(m.counts - inside)).sum() / m.scale)
        assert likelihood.ratio(model.measurements) == pytest.approx(naive, abs=2e-6)


def test_the_ratio_of_mst_follows_merged_cells():
    generator = get("mst", epsilon=4.0)
    pair = parse_pair("worst-case:columns=3,rows=300,repeat=40").build(Neighbours.ADD_REMOVE, None, 0)
    for seed in range(5):
        model = generator.fit(pair.outside, np.random.default_rng(seed))
        naive = 0.0
        for m in model.measurements:
            tables = []
            for t in (pair.inside, pair.outside):
                cells = [m.cells[a][t.codes[:, c]] if m.cells else t.codes[:, c] for a, c in enumerate(m.columns)]
                shape = np.array(m.counts.shape)
                tables.append(joint(np.stack(cells, axis=1).astype(np.uint8), tuple(range(len(shape))), shape))
            naive += float(((m.counts - tables[1]) ** 2 - (m.counts - tables[0]) ** 2).sum() / (2 * m.scale**2))
        assert PairLikelihood(pair).ratio(model.measurements) == pytest.approx(naive, abs=2e-6)


def test_the_ceiling_is_what_the_noise_spends():
    """The histogram spends all of epsilon, PrivBayes half of it on its tables, MST less than all after conversion."""
    for generator, low, high in ((Histogram(1.0), 1.0, 1.0), (PrivBayes(1.0), 0.5, 0.5), (get("mst"), 0.68, 0.78)):
        pair = WorstCase().build(generator.claim.neighbours, None, 0)
        model = generator.fit(pair.outside, np.random.default_rng(0))
        ceiling = PairLikelihood(pair).ceiling(model.measurements, generator.claim.delta)
        assert low - 1e-9 <= ceiling <= high + 1e-9
