"""Every experiment, in the order of the pages. A new one is a file and a line here; its page needs two marker lines."""

from tests.papers.experiment import Experiment
from tests.papers.groundhog import figure_2, figure_3, figure_4, figure_6, figure_15
from tests.papers.hittmeir import tables_2_to_5
from tests.papers.tapas import experiment_1, experiment_2

EXPERIMENTS: tuple[Experiment, ...] = (
    figure_2.EXPERIMENT,
    figure_3.EXPERIMENT,
    figure_4.EXPERIMENT,
    figure_6.EXPERIMENT,
    figure_15.EXPERIMENT,
    experiment_1.EXPERIMENT,
    experiment_2.EXPERIMENT,
    tables_2_to_5.EXPERIMENT,
)
