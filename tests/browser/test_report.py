"""The report in a real browser: what it loads, what it says, how it looks at every width, in the dark and on paper."""

import re

import pytest

from tests.reports.test_html import GOLDEN

NAMES = [path.stem for path in GOLDEN] + ["comparison", "inconclusive", "confounded", "hostile", "long"]
BOTH = [(1400, "light"), (1400, "dark"), (360, "light"), (360, "dark")]

# Contrast of every visible text against the first opaque background behind it, as WCAG 2 computes it.
CONTRAST = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return {r, g, b, a};
  };
  const light = ({r, g, b}) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return parse(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "rgb(18,18,18)" : "rgb(255,255,255)");
  };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("script, style, title, desc, .hidden, .skip")) continue;
    const style = getComputedStyle(node);
    const drawn = node instanceof SVGElement;
    const [a, b] = [light(parse(drawn ? style.fill : style.color)), light(behind(node))].sort((p, q) => q - p);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) bad.push([walk.currentNode.data.trim().slice(0, 40), ratio.toFixed(2)]);
  }
  return bad;
}"""

# Texts of a chart that overlap one another or leave the drawing, and texts that are too small to read.
COLLISIONS = """() => {
  const bad = [];
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    if (!svg.checkVisibility()) continue;
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && !t.getAttribute("transform"))
      .map((t) => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([text, box], place) => {
      if (box.left < frame.left - 12 || box.right > frame.right + 12) bad.push(["leaves the chart", text]);
      if (box.height < 11) bad.push(["too small", text, box.height]);
      for (const [other, there] of boxes.slice(place + 1)) {
        const wide = Math.min(box.right, there.right) - Math.max(box.left, there.left);
        const high = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
        if (wide > 1 && high > 3) bad.push(["overlap", text, other]);
      }
    });
  }
  return bad;
}"""


@pytest.mark.parametrize("name", NAMES)
def test_a_report_opens_without_a_word_and_asks_for_nothing(visit, name):
    page = visit(name)
    page.wait_for_timeout(100)
    assert page.said == []
    assert [url for url in page.asked if not url.startswith("file:")] == []
    assert len(page.asked) == 1
    assert page.evaluate("document.scripts.length") == 1


@pytest.mark.parametrize(("width", "scheme"), BOTH)
@pytest.mark.parametrize("name", NAMES)
def test_every_width_and_scheme_is_usable(visit, name, width, scheme):
    page = visit(name, width=width, scheme=scheme)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate(CONTRAST) == []
    assert (
        page.locator("td").evaluate_all(
            "cells => cells.filter(c => getComputedStyle(c).display !== 'table-cell').length"
        )
        == 0
    )
    if name not in ("hostile", "long"):
        assert page.evaluate(COLLISIONS) == []


def test_dark_is_dark_and_paper_is_white(visit):
    dark = visit("release", scheme="dark")
    colour = "getComputedStyle(document.querySelector('#criteria')).backgroundColor"
    assert max(map(int, re.findall(r"\d+", dark.evaluate(colour))[:3])) < 60
    dark.emulate_media(media="print")
    assert dark.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(26, 31, 38)"
    assert not dark.is_visible("nav")
    assert dark.is_visible(".wide svg")


@pytest.mark.parametrize("name", ["release", "attack", "demo", "quiet", "epsilon", "crowded"])
def test_verdict_to_not_tested_fit_two_sheets(visit, name):
    page = visit(name)
    whole = sheets(page)
    page.evaluate("for (const part of document.querySelectorAll('.later, footer')) part.remove()")
    assert sheets(page) <= 2
    assert whole > sheets(page)


def sheets(page) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(prefer_css_page_size=True)))


def test_tables_sort_by_value_with_the_keyboard_too(visit):
    page = visit("attack")
    table = page.locator("#attacks table.sortable").first
    head = table.locator("thead th").nth(2)
    column = "rows => rows.map(row => Number(row.cells[2].dataset.value))"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = table.locator("tbody tr").evaluate_all(column)
    assert values == sorted(values)
    assert len(values) == 24
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert table.locator("tbody tr").evaluate_all(column) == sorted(values, reverse=True)
    assert page.said == []


def test_without_script_everything_is_there(visit):
    page = visit("release", script=False)
    for name in (
        "verdict",
        "criteria",
        "findings",
        "not-tested",
        "risk",
        "attacks",
        "detail",
        "epsilon",
        "sound",
        "utility",
        "method",
    ):
        assert page.is_visible(f"#{name} h2")
    page.locator("#findings summary").first.click()
    assert page.locator("#findings details[open] li").first.is_visible()


def test_hostile_names_are_text_and_do_not_run(visit):
    page = visit("hostile")
    assert page.locator("img").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.inner_text("#findings")
    assert "</script><script>alert(1)</script>" in page.inner_text("#findings")
    assert page.said == []


def test_the_policy_stops_what_escaping_would_have_missed(visit, pages, tmp_path, browser):
    text = pages["quiet"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace("</h1>", "</h1><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"),
        encoding="utf-8",
    )
    page = browser.new_page()
    page.goto(broken.as_uri())
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    page.close()


def test_the_keyboard_reaches_the_verdict_first(visit):
    page = visit("release")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    page.wait_for_url("**#verdict")  # the address changes a moment later, on a busy machine a long one


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (360, "dark")])
@pytest.mark.parametrize("name", ["release", "demo", "quiet", "comparison"])
def test_axe_finds_nothing_serious(visit, axe, name, width, scheme):
    page = visit(name, width=width, scheme=scheme)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (rule["id"], [node["target"] for node in rule["nodes"]][:3])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
