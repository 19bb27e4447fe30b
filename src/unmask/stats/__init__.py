"""Statistics: pure functions on arrays that return frozen results with an interval, a method and an n.

One file per subject, so that each can be held against its source; the names below are all that others use.
docs/reference/statistics.md has a line for every name, with its assumption and its source.

intervals, roc, auc          rates, differences, ROC and AUC; jackknife over runs
thresholds, epsilon          lower bounds on epsilon, and how a threshold may be chosen
curves, limits, zcdp         known privacy curves, what DP allows an attack, budget conversion
evalues, bets, multiplicity  evidence per person, lists with error control
wealth, cases                rates whose cases come several at a time: releases, not scores, are the draws
paired                       two attacks on the same draws
power                        what an audit of this size could have seen
"""

from unmask.stats.auc import auc
from unmask.stats.bets import epsilon_of_bets, largest_visible_of_bets, log_e_value_of_bets
from unmask.stats.curves import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    laplace_delta,
    laplace_epsilon,
    randomised_response_epsilon,
)
from unmask.stats.epsilon.anytime import Anytime, Direction, epsilon_anytime, largest_visible_anytime
from unmask.stats.epsilon.bayesian import epsilon_bayesian
from unmask.stats.epsilon.betting import Betting, HalfLines, best_half_lines, stakes
from unmask.stats.epsilon.clopper_pearson import (
    ErrorCounts,
    epsilon_clopper_pearson,
    epsilon_from_errors,
    largest_visible_clopper_pearson,
)
from unmask.stats.epsilon.effective import (
    Contender,
    EffectiveEpsilon,
    choosing,
    effective_epsilon,
    epsilon_of_attack,
)
from unmask.stats.epsilon.f_dp import TradeOff, epsilon_f_dp, mu_f_dp
from unmask.stats.epsilon.gaussian import epsilon_gaussian, largest_visible_gaussian
from unmask.stats.epsilon.hockey_stick import (
    delta_from_errors,
    delta_hockey_stick,
    hockey_stick_priors,
    largest_visible_hockey_stick,
)
from unmask.stats.epsilon.one_run import epsilon_one_run, largest_visible_one_run, one_run_p_value
from unmask.stats.evalues import (
    average_log_e_values,
    epsilon_for_listed,
    largest_visible_listed,
    log_e_value,
)
from unmask.stats.intervals import clopper_pearson, difference, excess_risk, wilson
from unmask.stats.jackknife import jackknife
from unmask.stats.labels import TopTest, advantage_bound, fisher, top_test
from unmask.stats.limits import (
    group_claim,
    largest_advantage,
    largest_advantage_yeom,
    largest_auc,
    largest_auc_gaussian,
    replacement_claim,
)
from unmask.stats.multiplicity import EListing, Listing, benjamini_hochberg, conformal_p_values, e_bh, holm
from unmask.stats.power import (
    best_error,
    power_anytime,
    power_clopper_pearson,
    power_difference,
    power_one_run,
    smallest_visible_epsilon,
    smallest_visible_leak,
)
from unmask.stats.results import Assumption, Bound, Estimate, Refusal
from unmask.stats.roc import (
    LOG_GRID,
    OperatingPoint,
    Roc,
    advantage,
    precision,
    precision_interval,
    roc_curve,
    roc_on_grid,
    tpr_at_fpr,
)
from unmask.stats.thresholds import Bonferroni, Given, MultiSplit, Split, Threshold
from unmask.stats.zcdp import (
    delta_from_rho,
    epsilon_from_rho,
    epsilon_from_rho_simple,
    rho_from,
    rho_from_simple,
)

__all__ = [
    "LOG_GRID",
    "Anytime",
    "Assumption",
    "Betting",
    "Bonferroni",
    "Bound",
    "Contender",
    "Direction",
    "EListing",
    "EffectiveEpsilon",
    "ErrorCounts",
    "Estimate",
    "Given",
    "HalfLines",
    "Listing",
    "MultiSplit",
    "OperatingPoint",
    "Refusal",
    "Roc",
    "Split",
    "Threshold",
    "TopTest",
    "TradeOff",
    "advantage",
    "advantage_bound",
    "auc",
    "average_log_e_values",
    "benjamini_hochberg",
    "best_error",
    "best_half_lines",
    "choosing",
    "clopper_pearson",
    "conformal_p_values",
    "delta_from_errors",
    "delta_from_rho",
    "delta_hockey_stick",
    "difference",
    "e_bh",
    "effective_epsilon",
    "epsilon_anytime",
    "epsilon_bayesian",
    "epsilon_clopper_pearson",
    "epsilon_f_dp",
    "epsilon_for_listed",
    "epsilon_from_errors",
    "epsilon_from_rho",
    "epsilon_from_rho_simple",
    "epsilon_gaussian",
    "epsilon_of_attack",
    "epsilon_of_bets",
    "epsilon_one_run",
    "excess_risk",
    "fisher",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "group_claim",
    "hockey_stick_priors",
    "holm",
    "jackknife",
    "laplace_delta",
    "laplace_epsilon",
    "largest_advantage",
    "largest_advantage_yeom",
    "largest_auc",
    "largest_auc_gaussian",
    "largest_visible_anytime",
    "largest_visible_clopper_pearson",
    "largest_visible_gaussian",
    "largest_visible_hockey_stick",
    "largest_visible_listed",
    "largest_visible_of_bets",
    "largest_visible_one_run",
    "log_e_value",
    "log_e_value_of_bets",
    "mu_f_dp",
    "one_run_p_value",
    "power_anytime",
    "power_clopper_pearson",
    "power_difference",
    "power_one_run",
    "precision",
    "precision_interval",
    "randomised_response_epsilon",
    "replacement_claim",
    "rho_from",
    "rho_from_simple",
    "roc_curve",
    "roc_on_grid",
    "smallest_visible_epsilon",
    "smallest_visible_leak",
    "stakes",
    "top_test",
    "tpr_at_fpr",
    "wilson",
]
