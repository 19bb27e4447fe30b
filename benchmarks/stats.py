"""CPU of the statistics that an audit calls often, or with many coins."""

from __future__ import annotations

import numpy as np

from benchmarks._timing import cpu_seconds, line
from unmask.stats import (
    Anytime,
    Betting,
    Bonferroni,
    MultiSplit,
    TradeOff,
    auc,
    e_bh,
    epsilon_clopper_pearson,
    epsilon_f_dp,
    epsilon_one_run,
    log_e_value,
    rho_from,
    smallest_visible_epsilon,
)

COINS = 100_000


def main() -> None:
    """Print one line per statistic; the bar of issue 6 is the f-DP bound under 1 s CPU."""
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1, 1, COINS), rng.normal(0, 1, COINS)

    def gaussian_one_run() -> object:
        return epsilon_f_dp(70_000, COINS, coins=COINS, family=TradeOff.GAUSSIAN, delta=1e-6)

    def approximate_one_run() -> object:
        return epsilon_f_dp(70_000, COINS, coins=COINS, delta=1e-6)

    def thousand_pairs() -> object:
        return Anytime.start(bettors=2).observe(rng.random((1000, 2)) < 0.7, rng.random((1000, 2)) < 0.3)

    def thousand_bets() -> object:
        state = Betting.start(attacks=20)
        for coin in rng.random(1000) < 0.5:
            state = state.observe(bool(coin), rng.integers(-1, 2, 20))
        return state

    def split(threshold: MultiSplit | Bonferroni) -> object:
        return epsilon_clopper_pearson(inside[:10_000], outside[:10_000], threshold=threshold, rng=rng)

    seconds = cpu_seconds(gaussian_one_run)
    line(f"f-DP one-run bound, Gaussian, m = 100,000 ({seconds:.4f} s)", seconds, bar="under 1 s CPU")
    line("f-DP one-run bound, approximate, m = 100,000", cpu_seconds(approximate_one_run))
    line(
        "one-run bound with delta, m = 100,000",
        cpu_seconds(lambda: epsilon_one_run(70_000, COINS, coins=COINS, delta=1e-6)),
    )
    line("AUC with DeLong interval, 100,000 + 100,000", cpu_seconds(lambda: auc(inside, outside)))
    line("Clopper-Pearson, 11 splits of 10,000 + 10,000", cpu_seconds(lambda: split(MultiSplit(11))))
    line("Clopper-Pearson, Bonferroni over 10,000 + 10,000", cpu_seconds(lambda: split(Bonferroni())))
    line("anytime e-process, 1,000 pairs, 401 epsilons", cpu_seconds(thousand_pairs, repeat=3))
    line("betting, 1,000 runs, 20 attacks, 401 epsilons", cpu_seconds(thousand_bets, repeat=2))
    right = rng.binomial(64, 0.5, COINS)
    line("e-values and e-BH of 100,000 people", cpu_seconds(lambda: e_bh(log_e_value(right, 64))))
    line("rho from (1, 1e-9)", cpu_seconds(lambda: rho_from(1.0, 1e-9)))
    line("smallest visible epsilon, 1,000 runs a side", cpu_seconds(lambda: smallest_visible_epsilon(1.0, runs=1000)))


if __name__ == "__main__":
    main()
