"""DPGAN: every decision that its claim rests on, against what it should be."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from unmask.errors import ParameterError
from unmask.generators.deep import _evidence, dpgan
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._dense import AdamSteps, Dense
from unmask.generators.deep._maker import Maker, is_stage
from unmask.generators.deep._rows import noisy_rows, poisson_sample, sampling_rate
from unmask.generators.deep.dpgan import DPGAN
from unmask.generators.deep.pategan import PATEGAN
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table
from unmask.testing import plain
from unmask.threats.pairs import table_of

pytest.importorskip("dp_accounting")

QUICK = {"steps": 6, "batch": 16, "hidden": 8, "width": 8}
PEOPLE = plain("all kinds of columns")


def per_example(network: Dense, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Gradients of softplus(-score), one example at a time, by torch's vmap over autograd: the oracle."""
    torch = pytest.importorskip("torch")
    layers = [(torch.tensor(m), torch.tensor(b)) for m, b in network.layers(weights)]

    def loss(parameters, row):
        for place, (matrix, bias) in enumerate(parameters):
            row = row @ matrix + bias
            if place < len(parameters) - 1:
                row = torch.nn.functional.leaky_relu(row, 0.2)
        return torch.nn.functional.softplus(-row[0])

    found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(layers, torch.tensor(rows))
    return np.concatenate([part.reshape(len(rows), -1).numpy() for layer in found for part in layer], axis=1)


@pytest.mark.parametrize("widths", [(7, 1), (7, 5, 1), (7, 6, 5, 1)])
def test_ghost_norms_and_clipped_sums_are_those_of_single_gradients(widths):
    rng = np.random.default_rng(1)
    network = Dense(widths)
    weights, rows = network.begin(rng).astype(np.float64), rng.normal(size=(40, 7))
    exact = per_example(network, weights, rows)
    passed = network.forward(weights, rows)
    slopes = network.slopes(weights, passed, -1 / (1 + np.exp(passed[-1])))
    norms = network.norms(passed, slopes)
    assert norms == pytest.approx(np.linalg.norm(exact, axis=1), rel=1e-6)
    one = network.products(passed, slopes, [p[:1] for p in passed], [s[:1] for s in slopes])
    assert one == pytest.approx(exact @ exact[0], rel=1e-6, abs=1e-9)
    limit = float(np.median(norms))
    factors, most = DPGAN(clip=limit).limited(norms)
    assert most == limit
    assert network.total(passed, slopes, factors) == pytest.approx(
        (exact * np.minimum(1, limit / (norms * dpgan.ROUNDING))[:, None]).sum(axis=0), rel=1e-6, abs=1e-9
    )


def test_no_row_moves_a_sum_by_more_than_the_clip():
    """In 32 bits, as it is trained: the sum with a row less the sum without it, over many rows and steep networks."""
    rng = np.random.default_rng(2)
    blocks, generator = Blocks.of(PEOPLE.schema), DPGAN(clip=0.7)
    judge = Dense((blocks.width, 16, 1))
    rows = blocks.encode(PEOPLE.codes)
    for steep in (0.1, 1.0, 30.0):
        weights = judge.begin(rng) * np.float32(steep)
        whole, limit = generator.clipped_sum(judge, weights, rows, sign=-1)
        moves = [
            np.linalg.norm(
                whole.astype(float) - generator.clipped_sum(judge, weights, np.delete(rows, i, 0), sign=-1)[0]
            )
            for i in range(20)
        ]
        assert limit == 0.7
        assert max(moves) <= 0.7 * (1 + 1e-5)
    alone, _ = generator.clipped_sum(judge, weights, rows[:1], sign=-1)
    assert np.linalg.norm(alone) <= 0.7


def test_measured_noise_is_what_the_accountant_asked_for():
    """The noisy sums less the exact ones of the same samples: normal, with multiplier x clip as standard deviation."""
    generator = DPGAN(epsilon=2.0, clip=0.5, **QUICK | {"batch": 1000})  # every row in every sample
    model = generator.fit(PEOPLE, np.random.default_rng(3))
    assert model.mechanism.rate == 1
    assert model.mechanism == generator.accounted(1.0)
    rows = Blocks.of(PEOPLE.schema).encode(PEOPLE.codes)
    sums = zip(model.trace.weights, model.trace.sums, strict=True)
    noise = np.concatenate([s - generator.clipped_sum(model.judge, w, rows, sign=-1)[0] for w, s in sums])
    assert len(noise) > 1000
    assert stats.kstest(noise / (model.mechanism.noise * 0.5), "norm").pvalue > 0.001


def test_noisy_sums_show_no_bit_of_the_exact_ones():
    """All multiples of one coarse grid that hangs on the noise alone, exact in 32 bits (Mironov 2012)."""
    for spread, seed in ((50.0, 0), (0.3, 1)):
        exact = np.random.default_rng(seed).normal(size=5000)
        noisy = dpgan.with_noise(exact, spread, np.random.default_rng(2))
        grid = 2.0 ** (np.floor(np.log2(spread)) - dpgan.GRID_BITS)
        steps = noisy.astype(float) / grid
        assert np.array_equal(steps, np.rint(steps))
        assert stats.kstest((noisy - exact) / spread, "norm").pvalue > 0.001
    assert np.array_equal(dpgan.with_noise(exact, 0.0, np.random.default_rng(2)), exact.astype(np.float32))


def test_samples_are_poisson():
    """Each row with the same probability, on its own: sizes are binomial, and rows come together no more than by chance."""
    rng = np.random.default_rng(4)
    drawn = np.zeros((4000, 30), dtype=bool)
    for row in drawn:
        row[poisson_sample(30, 0.2, rng)] = True
    sizes = np.bincount(drawn.sum(axis=1), minlength=31)
    expected = 4000 * stats.binom.pmf(np.arange(31), 30, 0.2)
    head = np.append(sizes[:13], sizes[13:].sum()), np.append(expected[:13], expected[13:].sum())
    assert stats.chisquare(*head).pvalue > 0.001
    together = np.corrcoef(drawn.T)[np.triu_indices(30, 1)]
    assert np.abs(together).max() < 5 / np.sqrt(4000)


def test_training_samples_by_the_accounted_rate(monkeypatch):
    """The rows that a step sees are those of `poisson_sample`, at the rate that the noise was worked out for."""
    seen = []

    def watched(rows, rate, rng):
        sample = poisson_sample(rows, rate, rng)
        seen.append((rows, rate, len(sample)))
        return sample

    monkeypatch.setattr(dpgan, "poisson_sample", watched)
    table = table_of(Schema((Column("a", Kind.CATEGORICAL, values=("x", "y")),)), np.zeros((4000, 1), dtype=int))
    model = DPGAN(epsilon=5.0, **QUICK | {"batch": 100, "steps": 60}).fit(table, np.random.default_rng(0))
    assert {(rows, rate) for rows, rate, _ in seen} == {(4000, model.mechanism.rate)}
    assert len(seen) == model.mechanism.steps == 60
    sizes = np.array([size for _, _, size in seen])
    mean, spread = 4000 * model.mechanism.rate, np.sqrt(4000 * model.mechanism.rate)
    assert abs(sizes.mean() - mean) < 4 * spread / np.sqrt(60)
    assert 0.6 < sizes.std() / spread < 1.5  # a fixed batch would have no spread


def test_the_number_of_rows_is_noisy_and_nothing_else_knows_it():
    rng = np.random.default_rng(5)
    found = np.array([noisy_rows(1000, 0.5, rng) for _ in range(3000)])
    assert abs(found.mean() - 1000) < 0.3
    assert np.abs(found - 1000).mean() == pytest.approx(1.9, rel=0.1)  # discrete Laplace of scale 2
    rates = [sampling_rate(256, rows) for rows in (1, 256, 257, 1000, 10**7)]
    assert rates[:2] == [1, 1]
    assert all(rate <= 256 / rows for rate, rows in zip(rates[2:], (257, 1000, 10**7), strict=True))
    assert len({sampling_rate(256, rows) for rows in range(900, 1100)}) <= 3  # few, so that noise is worked out once


def test_rate_and_steps_depend_on_the_noisy_number_alone(monkeypatch):
    """Two tables of very different length with the same noisy number of rows are trained alike."""
    monkeypatch.setattr(dpgan, "noisy_rows", lambda rows, epsilon, rng: 500)
    small, large = (DPGAN(**QUICK).fit(PEOPLE.take(np.arange(n) % 60), np.random.default_rng(0)) for n in (30, 900))
    assert small.mechanism == large.mechanism
    assert small.claim == large.claim
    assert small.claim.details == large.claim.details


def test_the_claim_carries_its_accounting():
    model = DPGAN(epsilon=2.0, delta=1e-5, **QUICK).fit(PEOPLE, np.random.default_rng(0))
    assert (model.claim.epsilon, model.claim.delta, model.claim.void) == (2.0, 1e-5, "")
    assert "6 steps of Gaussian noise" in model.claim.details
    assert "Renyi moments" in model.claim.details
    assert f"0.1 for the number of rows, whose noisy value is {model.noisy_rows}" in model.claim.details
    assert model.mechanism.epsilon(1e-5) <= 0.95 * 2.0
    inferred = replace(PEOPLE, schema=replace(PEOPLE.schema, origin=Origin.INFERRED))
    assert "inferred" in DPGAN(**QUICK).fit(inferred, np.random.default_rng(0)).claim.void


def test_the_same_seed_gives_the_same_bytes_and_models_pickle():
    table = PEOPLE
    one, two = (DPGAN(**QUICK).fit(table, np.random.default_rng(7)) for _ in range(2))
    draws = [pickle.loads(pickle.dumps(m)).sample(50, np.random.default_rng(1)) for m in (one, two)]
    assert draws[0].codes.tobytes() == draws[1].codes.tobytes()
    assert draws[0].numbers.tobytes() == draws[1].numbers.tobytes()
    other = DPGAN(**QUICK).fit(table, np.random.default_rng(8)).sample(50, np.random.default_rng(1))
    assert other.codes.tobytes() != draws[0].codes.tobytes()


def test_nothing_of_the_data_but_codes_is_used():
    """Numbers within their bins, and what the table notes, change no byte: preprocessing is the schema's alone."""
    moved = PEOPLE.numbers.copy()
    for place, position in enumerate(PEOPLE.schema.numeric):
        column = PEOPLE.schema.columns[position]
        moved[:, place] = column.edges[PEOPLE.codes[:, position]]
    other = Table(PEOPLE.schema, PEOPLE.codes, np.asfortranarray(moved))
    found = [
        DPGAN(**QUICK).fit(t, np.random.default_rng(7)).sample(50, np.random.default_rng(1)) for t in (PEOPLE, other)
    ]
    assert found[0].codes.tobytes() == found[1].codes.tobytes()
    assert found[0].numbers.tobytes() == found[1].numbers.tobytes()


def two_columns(rows: int, rng: np.random.Generator) -> Table:
    """Two columns of three values, equal in nine of ten rows; the values have shares .6, .3 and .1."""
    first = rng.choice(3, rows, p=[0.6, 0.3, 0.1])
    second = np.where(rng.random(rows) < 0.9, first, rng.choice(3, rows, p=[0.6, 0.3, 0.1]))
    schema = Schema(tuple(Column(name, Kind.CATEGORICAL, values=("x", "y", "z")) for name in "ab"))
    return table_of(schema, np.stack([first, second], axis=1))


def test_it_learns_what_the_table_holds():
    """Total variation of the joint of two columns at epsilon 4; independent columns with the right shares are at .36."""
    table = two_columns(4000, np.random.default_rng(0))
    model = DPGAN(epsilon=4.0).fit(table, np.random.default_rng(1))
    drawn = model.sample(4000, np.random.default_rng(2))
    real, made = (np.bincount(t.codes[:, 0] * 3 + t.codes[:, 1], minlength=9) / 4000 for t in (table, drawn))
    assert np.abs(real - made).sum() / 2 <= 0.12


def test_pategan_learns_single_columns():
    """Teachers are linear, so of two columns it learns the shares (uniform ones are at .27), and hardly how they go together."""
    table = two_columns(4000, np.random.default_rng(0))
    drawn = PATEGAN(epsilon=4.0).fit(table, np.random.default_rng(1)).sample(4000, np.random.default_rng(2))
    for column in range(2):
        real, made = (np.bincount(t.codes[:, column], minlength=3) / 4000 for t in (table, drawn))
        assert np.abs(real - made).sum() / 2 <= 0.1


@pytest.mark.parametrize("kind", [DPGAN, PATEGAN], ids=lambda kind: kind.name)
def test_scores_are_one_per_row_whatever_the_row(kind):
    """Rows that the schema does not list are scored too: their blocks are empty."""
    quick = QUICK if kind is DPGAN else {"teachers": 5, "steps": 2, "width": 8, "noise": 1.0}
    model = kind(**quick).fit(PEOPLE, np.random.default_rng(0))
    odd = replace(
        PEOPLE, codes=np.asfortranarray(PEOPLE.codes + (np.arange(60) % 2)[:, None].astype(PEOPLE.codes.dtype))
    )
    for table in (PEOPLE, odd, PEOPLE.take([])):
        scores = model.discriminator_score(table)
        assert scores.shape == (len(table),)
        assert np.isfinite(scores).all()


def test_slopes_of_the_maker_are_those_of_soft_choices():
    """Finite differences of sum(soft row x slope) with the Gumbel noise held fixed."""
    rng = np.random.default_rng(3)
    maker = Maker(PEOPLE.schema, noise=4, hidden=(5,), temperature=0.7)
    weights = maker.network.begin(rng).astype(np.float64)
    slope = rng.normal(size=(6, maker.blocks.width))

    def soft(w):
        _, logits = maker._logits(w, 6, np.random.default_rng(9))
        return (maker.blocks.softmax(logits / 0.7) * slope).sum() / 6

    found = maker.gradient(weights, maker.make(weights, 6, np.random.default_rng(9)), slope)
    for place in rng.integers(len(weights), size=12):
        step = np.zeros_like(weights)
        step[place] = 1e-4
        assert found[place] == pytest.approx((soft(weights + step) - soft(weights - step)) / 2e-4, rel=1e-2, abs=1e-5)


def test_adam_is_torch_adam():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    ours, mine = AdamSteps(0.1), rng.normal(size=5)
    theirs = torch.tensor(mine.copy(), requires_grad=True)
    steps = torch.optim.Adam([theirs], lr=0.1, betas=(0.5, 0.99))
    for _ in range(5):
        gradient = rng.normal(size=5)
        mine = ours.step(mine, gradient)
        theirs.grad = torch.tensor(gradient)
        steps.step()
    assert mine == pytest.approx(theirs.detach().numpy(), rel=1e-6)


def test_stages_are_few_late_and_hold_the_last():
    for steps in (1, 2, 7, 30, 500, 1999):
        kept = [step for step in range(steps) if is_stage(step, steps)]
        assert kept[-1] == steps - 1
        assert kept[0] >= steps // 2 - 1
        assert len(kept) <= 40


def test_large_training_keeps_no_trace(monkeypatch):
    monkeypatch.setattr(_evidence, "MOST_KEPT", 10)
    model = DPGAN(**QUICK).fit(PEOPLE, np.random.default_rng(0))
    assert model.trace is None
    assert set(model.evidence(PEOPLE.take([0]), PEOPLE)) == {"score of target", "noisy rows"}


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"delta": 1.0}, {"steps": 0}, {"batch": 1.5}, {"clip": -1.0}])
def test_parameters_without_meaning_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        DPGAN(**wrong)


def test_it_asks_for_a_stream():
    with pytest.raises(ParameterError, match="rng"):
        DPGAN(**QUICK).fit(PEOPLE, None)
