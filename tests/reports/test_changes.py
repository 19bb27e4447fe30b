"""Two runs side by side: what got better, what got worse, and what nobody can tell apart."""

from dataclasses import replace

from tests.reports import examples
from tests.reports.test_html import Page
from tests.results.test_result import FINDING
from unmask.reports.changes import changes_of
from unmask.reports.html import render_comparison
from unmask.results.figures import Figure
from unmask.results.policy import Severity

BASE = examples.quiet()


def at(value, width=0.05, name="closest-record", **more):
    return replace(FINDING, name=name, estimate=Figure(value, value - width, value + width, 0.95, "x", 99), **more)


def changes(old, new):
    grid = changes_of(*(replace(BASE, findings=tuple(findings)) for findings in (old, new)))
    return {row[0]: row[3:] for row in grid.rows}


def test_better_worse_and_same_by_whether_intervals_overlap():
    old = [at(0.3), at(0.3, name="b"), at(0.3, name="c"), at(0.3, name="gone")]
    new = [at(0.1), at(0.5, name="b"), at(0.35, name="c"), at(0.3, name="new")]
    found = changes(old, new)
    assert found["closest-record"] == ("-0.200", "better", "apart")
    assert found["b"] == ("+0.200", "worse", "apart")
    assert found["c"] == ("+0.050", "not told apart", "overlap")
    assert found["gone"] == (None, "gone", None)
    assert found["new"] == (None, "new", None)
    assert found["Membership, worst finding"] == ("-0.200", "better", "apart")


def test_what_has_no_common_scale_is_not_compared():
    assert changes([at(0.3)], [at(0.1, control=None)])["closest-record"][1] == "not comparable"
    claim = at(2.0, criterion="dp claim", severity=Severity.HIGH)
    assert changes([claim], [replace(claim, severity=Severity.NONE)])["closest-record"][1] == "better"


def test_the_page_of_two_runs_says_what_has_changed_and_that_of_three_does_not():
    pages = {"first": examples.release(), "second": BASE}
    text = Page(render_comparison(pages)).text
    assert "What has changed From first to second : leak found (high) before, no leak found after." in text
    assert "linking ◆ 0.090 (0.040 to 0.140)" in text
    assert "What has changed" not in Page(render_comparison({**pages, "third": BASE})).text
