"""Every experiment, in the order of the pages. A new one is a file and a line here; its page needs two marker lines."""

from tests.papers.experiment import Experiment
from tests.papers.groundhog import deep as groundhog_deep
from tests.papers.groundhog import (
    figure_2,
    figure_3,
    figure_3_pooled,
    figure_4,
    figure_4_settings,
    figure_6,
    figure_8,
    figure_9,
    figure_11,
    figure_12,
    figure_14,
    figure_15,
)
from tests.papers.hittmeir import table_6, tables_2_to_5, tables_7_to_10
from tests.papers.midst import overtrained
from tests.papers.reconsyn import deep as reconsyn_deep
from tests.papers.reconsyn import figure_3 as reconsyn_figure_3
from tests.papers.reconsyn import figure_5 as reconsyn_figure_5
from tests.papers.reconsyn import figure_6 as reconsyn_figure_6
from tests.papers.reconsyn import table_1, table_4
from tests.papers.ruiz import risk_by_sets
from tests.papers.tapas import deep as tapas_deep
from tests.papers.tapas import differences, experiment_1, experiment_2

EXPERIMENTS: tuple[Experiment, ...] = (
    figure_2.EXPERIMENT,
    figure_3.EXPERIMENT,
    figure_3_pooled.EXPERIMENT,
    figure_4.EXPERIMENT,
    figure_4_settings.EXPERIMENT,
    figure_6.EXPERIMENT,
    figure_8.EXPERIMENT,
    figure_9.EXPERIMENT,
    figure_11.EXPERIMENT,
    figure_12.EXPERIMENT,
    figure_14.EXPERIMENT,
    figure_15.EXPERIMENT,
    experiment_1.EXPERIMENT,
    experiment_2.EXPERIMENT,
    differences.EXPERIMENT,
    tables_2_to_5.EXPERIMENT,
    table_6.EXPERIMENT,
    tables_7_to_10.EXPERIMENT,
    risk_by_sets.EXPERIMENT,
    table_1.EXPERIMENT,
    reconsyn_figure_3.EXPERIMENT,
    reconsyn_figure_5.EXPERIMENT,
    table_4.EXPERIMENT,
    reconsyn_figure_6.EXPERIMENT,
    groundhog_deep.FIGURE_2,
    groundhog_deep.FIGURE_3,
    tapas_deep.EXPERIMENT,
    reconsyn_deep.EXPERIMENT,
    overtrained.EXPERIMENT,
)
