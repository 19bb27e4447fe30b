"""The page: structure, safety, size. What only a browser can tell is in tests/browser."""

import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.reports import examples
from tests.results.test_result import full_result
from unmask.errors import RunError
from unmask.kept import kept_folder
from unmask.reports import html
from unmask.reports.html import render, render_comparison, write_report
from unmask.reports.record import criteria_of
from unmask.results.directory import load
from unmask.results.grid import Grid, GridKind, Role, Series, SeriesKind
from unmask.results.policy import Policy, Severity
from unmask.results.result import Exposure, Facts, NotTested, Result

GOLDEN = sorted(examples.GOLDEN.glob("*.json"))
ALWAYS = ["verdict", "criteria", "findings", "not-tested", "sound", "method"]
INTERVAL = (Role.TEXT, Role.ESTIMATE, Role.LOW, Role.HIGH)
VOID = {"meta", "link", "br", "input", "hr", "img"}

HOSTILE = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\"><svg onload=alert(1)>", "'; alert(1) //",
    "{{ 7 * 7 }} {% raw %}", "x" * 10_000, "שלום עולם \u202e gnp.exe", "bell\x07 escape\x1b[31m nul\x00 tab\t del\x7f",
    "&lt;b&gt; &amp;", "]]>--><!--", "javascript:alert(1)",
]  # fmt: skip


@pytest.fixture
def caches(caches):
    """The place for what is kept, and how this process forgets that it has looked there."""

    def forget() -> None:
        kept_folder.cache_clear()
        html._environment.cache_clear()

    forget()
    yield caches, forget
    forget()


class Page(HTMLParser):
    """Elements in order, with their attributes and their text; complains about tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def read(path: Path) -> Result:
    return Result.from_plain(json.loads(path.read_text()), path.name)


def hostile(text: str) -> Result:
    """A result in which every text that can come from a file is hostile."""
    base = examples.release()
    changed = [
        replace(f, name=text, title=text, threat=text, advice=text, exposure=Exposure(10, 5, undefined=text))
        for f in base.findings
    ]
    return replace(
        base,
        plan={"generator": text, text: text, "claim": text},
        inputs=tuple(replace(item, role=text, digest=text) for item in base.inputs),
        findings=tuple(changed),
        grids=(
            Grid(text, text, (text,) * 4, ((text, 0.5, 0.4, 0.6), ("b", 0.5, 0.4, 0.6)), roles=INTERVAL),
            Grid(f"g{text}", text, (text, text), ((text, 100),), kind=GridKind.GROUPS, roles=(Role.GROUP, Role.PEOPLE)),
            Grid(f"h{text}", text, (text, text), ((text, 1.0),), kind=GridKind.HEAT),
        ),
        series=tuple(
            Series(f"{kind}/{text}", text, text, text, (0.1, 0.5, 1.0), (0.0, 0.5, 1.0), kind) for kind in SeriesKind
        ),
        notes=(text, f"{text} seen"),
        facts=Facts((f"{text} seen",), (text,), (text,)),
        not_tested=(NotTested(text, text, text),),
        versions={"unmask": text, text: text},
    )


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_golden_result_has_every_section_it_should(path):
    result = read(path)
    page = Page(render(result, {"command": ["unmask", "audit", "a b.csv"], "finished": "2026-01-01"}))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    sections = [attributes["id"] for attributes in page.all("section")]
    assert [name for name in sections if name in ALWAYS] == ALWAYS
    links = [a["href"] for a in page.all("a") if a["href"] != "#verdict" or "class" not in a]
    assert links == [f"#{name}" for name in sections]
    assert "unmask audit 'a b.csv'" in page.text
    for item in result.inputs:
        assert item.digest in page.text
    for svg in page.all("svg"):
        if svg.get("aria-hidden") != "true":
            assert svg["role"] == "img"
            assert set(svg["aria-labelledby"].split()) <= set(ids)


def test_the_golden_files_are_what_the_examples_make():
    for make in (examples.release, examples.quiet, examples.epsilon):
        assert read(examples.GOLDEN / f"{make.__name__}.json").to_plain() == make().to_plain()


def test_the_full_result_fills_all_eleven_sections():
    page = Page(render(examples.release()))
    assert [attributes["id"] for attributes in page.all("section")] == [
        "verdict", "criteria", "findings", "not-tested", "risk", "attacks", "detail", "epsilon", "sound", "utility", "method",
    ]  # fmt: skip
    for words in (
        "19 in 100 members are recognised", "Gain over the control: 0.310 (0.260 to 0.360, 95 %, n = 1,000)", "ε ≥ 2.30",
        "claimed ε = 1", "What this cannot show", "Verbatim copies of 3%", "Nobody has drawn this before",
        "A table that nobody knows",
        "a person: all rows with one person id", "Reviewer", "6 in 100", "there is no fitted model",
    ):  # fmt: skip
        assert words in page.text, words


def test_no_page_ever_says_safe_and_silence_is_no_proof():
    text = Page(render(examples.quiet())).text
    assert (
        "No attack did better on people in the data than on people who are not (3 comparisons, 95 % confidence)."
        in text
    )
    assert "would have been seen in 8 of 10 trials" in text
    assert "It cannot show that a release is anonymous" in text
    for path in GOLDEN:
        assert not re.search(r"\b(is|are) safe\b", Page(render(read(path))).text)


def test_a_result_without_findings_has_no_verdict():
    text = Page(render(replace(examples.release(), audit="describe", findings=(), series=(), grids=()))).text
    assert "no verdict" in text
    assert "Nothing was attacked here" in text


def test_findings_without_a_control_do_not_claim_one():
    bare = tuple(replace(f, control=None, severity=Severity.NONE) for f in examples.release().findings[:3])
    text = Page(render(replace(examples.release(), findings=bare))).text
    assert "Nothing here had a control to be compared with" in text
    assert "No attack beat its control" not in text
    assert "Success, with no control to compare it with" in text


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_shown_and_never_run(text):
    made = render(hostile(text), {"command": ["unmask", text], "finished": text})
    page = Page(made)
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert not any(key.startswith("on") or key == "style" for _, attributes in page.elements for key in attributes)
    assert not any((ord(sign) < 32 and sign != "\n") or 0x7F <= ord(sign) < 0xA0 for sign in made)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", made)
    assert len(made) < 500_000
    start = text.split("\x00")[0].split("\x07")[0].split(" \u202e")[0][:40]
    assert re.sub(r"\s+", " ", start).strip() in page.text


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_nothing_is_loaded_from_anywhere(path):
    page = Page(render(read(path)))
    for tag, attributes in page.elements:
        for name in ("src", "srcset", "action", "data", "poster", "xlink:href"):
            assert name not in attributes, (tag, name)
        if "href" in attributes:
            assert attributes["href"].startswith("#") or (tag == "link" and attributes["href"] == "data:,")
    made = render(read(path))
    assert len(made.encode()) < 450_000
    assert "@import" not in made
    assert "url(" not in made
    assert not re.search(r"https?://", made)
    (policy,) = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "base-uri 'none'" in policy


def test_no_record_is_on_the_page_nor_in_the_summary(tmp_path):
    result = examples.release()
    write_report(result, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "summary.md"]
    for name in ("report.html", "summary.md"):
        text = (tmp_path / name).read_text()
        assert "p-secret" not in text
        assert "4711" not in text
        assert "tiny" not in text  # a group of seven


def test_ten_thousand_records_make_a_small_page_fast():
    many = tuple(float(k) for k in range(10_000))
    shares, later = tuple(a / 1e4 for a in many), tuple((a + 1) / 1e4 for a in many)
    base = examples.release()
    result = replace(
        base,
        series=(
            *base.series,
            *(Series(f"roc/more-{k}", "r", "x", "y", later, shares, SeriesKind.ROC) for k in range(12)),
            Series("risk/everyone", "Everyone", "record", "risk", many, shares, SeriesKind.RISK),
            Series("ecdf/d/real", "d", "d", "share", many, shares, SeriesKind.ECDF),
        ),
        grids=(*base.grids, Grid("long", "Long", ("a", "b"), tuple((f"a{k}", k) for k in range(10_000)))),
    )  # fmt: skip
    start = time.process_time()
    made = render(result)
    assert time.process_time() - start < 10  # half a second; a chart that grows with its square would take minutes
    assert len(made.encode()) < 500_000
    assert "9,800 more lines in result.json" in Page(made).text


def test_odd_numbers_do_not_break_a_chart():
    nan, inf = float("nan"), float("inf")
    points = (
        ((0.0, nan), (nan, 1.0)), ((), ()), ((1.0,), (1.0,)), ((1.0,), (0.0,)), ((0.0, 0.0), (1.0, 1.0)), ((0.0,), (0.0,)),
        ((1.0, 2.0), (5.0, 5.0)), ((1.0, 2.0, 3.0), (-inf, 0.0, inf)),
    )  # fmt: skip
    odd = tuple(
        Series(f"{kind}/{place}/a", "a", "x", "y", x, y, kind)
        for kind in SeriesKind
        for place, (x, y) in enumerate(points)
    )
    grids = (
        Grid("empty", "Empty", ("a", "value", "low", "high"), (), roles=INTERVAL),
        Grid("words", "Words", ("a", "value", "low", "high"), (("a", "b", "c", "d"),) * 2, roles=INTERVAL),
        Grid("open", "Open", ("a", "b", "c", "d"), (("a", inf, -inf, inf), ("b", nan, nan, nan)), roles=INTERVAL),
        Grid("groups", "No count", ("group", "risk"), (("x", 0.5),), kind=GridKind.GROUPS),
        Grid("heat", "None", ("a",), (), kind=GridKind.HEAT),
        Grid("nothing", "No column", (), ()),
    )
    for result in (replace(examples.release(), series=odd, grids=grids), full_result()):
        page = render(result)
        Page(page)
        assert "nan" not in "".join(re.findall(r' (?:x|y|d|cx|cy|x1|x2|y1|y2|width|height)="[^"]*"', page)).lower()


def test_several_results_stand_side_by_side():
    runs = {f"run {path.stem} <b>": read(path) for path in GOLDEN}
    page = Page(render_comparison(runs, {"run attack <b>": "attack/report.html"}))
    assert "run attack <b>" in page.text
    assert [a["href"] for a in page.all("a")][1:] == ["attack/report.html"]
    assert "What differs between the runs" in page.text
    assert len(page.all("script")) == 1


@pytest.mark.parametrize("number", [1, 99])
def test_results_of_other_versions_are_refused(tmp_path, number):
    plain = examples.release().to_plain() | {"format": number}
    (tmp_path / "result.json").write_text(json.dumps(plain))
    with pytest.raises(RunError, match=f"has format {number}, this version of unmask reads 2 to 4"):
        load(tmp_path)


def test_facts_and_not_the_wording_of_notes_decide_where_a_sentence_stands():
    """A note that only sounds like a fact stays a note; a fact in other words keeps its place."""
    base = examples.quiet()
    other = replace(
        base, notes=("42 eels.", *base.notes[2:]), facts=replace(base.facts, visible=("42 eels.",), at_risk=())
    )
    made = render(other)
    verdict, sound = (re.search(rf'<section id="{name}".*?</section>', made, re.S)[0] for name in ("verdict", "sound"))
    assert "42 eels." in verdict
    assert "what would have been seen by people at risk" not in verdict
    assert 'id="risk"' not in made
    assert sound.count("42 eels.") == 1
    assert "what would have been seen by people at risk" in sound.partition("<h3>Notes</h3>")[2]


def test_the_record_has_every_field_that_regulators_ask_for():
    """For an audit of a release, an attack on a generator and the audit of a claim, from real runs."""
    always = (
        "Release (SHA-256 of its content)", "Generator", "Seed of every random step", "Unit of privacy",
        "Differential privacy: claim and bound", "Subgroups", "Controls and calibration", "Command", "Finished", "Versions",
        "Mitigation tried", "Reviewer", "Date of review", "Per criterion", "worst record", "records above tolerance",
        "excess risk", "by guessing", "control", "Attackers", "unmask verb --seed 0", "numpy",
    )  # fmt: skip
    special = {
        "demo": (
            "synthetic: ",
            "not known to this audit",
            "Generator and its seed",
            "blind classifier",
            "see Who is at risk",
        ),
        "attack": ("every release was drawn from the generator", "real table published", "groups of targets", "cart"),
        "epsilon-run": (
            "Tested claim: epsilon 1",
            "Shown by epsilon: ε ≥",
            "oblivious",
            "histogram:epsilon=1",
            "Power: ",
        ),
    }
    for name, words in special.items():
        made = render(
            read(examples.GOLDEN / f"{name}.json"), {"command": ["unmask", "verb", "--seed", "0"], "finished": "x"}
        )
        method = Page(re.search(r'<section id="method".*?</section>', made, re.S)[0]).text
        for word in (*always, *words):
            assert word in method, (name, word)


def test_criteria_say_what_they_mean_for_records_or_why_not():
    rows = {
        row[0]: dict(zip(grid.columns, row, strict=True))
        for grid in [criteria_of(examples.release())]
        for row in grid.rows
    }
    linking = rows["Linking (WP29)"]
    assert linking["worst record"] == "0.500 (0.400 to 0.600)"
    assert linking["records above tolerance"] == "90 (80 to 100) of 1,000"
    assert linking["excess risk"] == 0.095
    assert rows["Inferring (WP29)"]["worst record"] == "not defined: there is no holdout to compare with"
    assert rows["Inferring (WP29)"]["records above tolerance"] == "not defined; 795 of 1,000 were hit"
    assert rows["Membership"]["records above tolerance"] == "24 (14 to 34) of 1,500 by gen-lra"
    assert rows["Singling out (WP29)"]["worst record"] == "not measured"
    assert rows["Differential privacy claim"]["worst record"].startswith("not defined for a claim")


def test_histograms_of_the_clearest_attacks_stand_open_and_the_others_are_folded():
    made = render(read(examples.GOLDEN / "demo.json"))
    detail = re.search(r'<section id="detail".*?</section>', made, re.S)[0]
    folded = re.findall(r'<details class="folded"><summary><bdi>Scores of (.*?)</bdi>', detail)
    every = re.findall(r"<figcaption><bdi>Scores of (.*?)</bdi>", detail)
    assert len(every) == 6
    assert folded == every[2:]
    assert every[0] == next(f.name for f in read(examples.GOLDEN / "demo.json").findings if f.criterion == "membership")


def test_advice_and_attackers_are_not_said_again():
    base = examples.release()
    twice = tuple(replace(f, severity=s) for s in (Severity.HIGH, Severity.LOW) for f in base.findings[:1])
    findings = re.search(r'<section id="findings".*?</section>', render(replace(base, findings=twice)), re.S)[0]
    assert findings.count(examples.REDO) == 1
    assert findings.count(examples.RELEASE_THREAT.replace("'", "&#39;")) == 1
    assert "As above." in findings


def test_the_thresholds_are_those_of_the_policy_that_judged():
    strict = replace(examples.release(), policy=Policy(high=0.05, medium=0.02, high_tpr=0.04))
    text = Page(render(strict)).text
    assert "▲ high from 0.05, or if 4 in 100 people" in re.sub(r"\s+", " ", text)
    assert "medium from a gain of 0.02, high from 0.05" in text
    both = {"usual": examples.release(), "strict": strict}
    assert "policy: high_tpr 0.1 0.04" in Page(render_comparison(both)).text
    marks = 'class="mark"'
    assert marks in render_comparison({"a": examples.quiet(), "b": examples.quiet()})
    assert marks not in render_comparison({"a": examples.quiet(), "b": replace(examples.quiet(), policy=strict.policy)})


def test_a_report_goes_to_a_directory_or_to_a_file(tmp_path):
    assert write_report(examples.quiet(), tmp_path / "run") == tmp_path / "run" / "report.html"
    assert write_report(examples.quiet(), str(tmp_path / "page.html")) == tmp_path / "page.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["report.html", "summary.md"]


@pytest.mark.parametrize("ending", [None, 0, 30, -5])
def test_templates_are_kept_and_one_that_was_cut_off_is_made_anew(caches, ending):
    place, forget = caches
    page = render(full_result())
    kept = sorted(place.rglob("__jinja2_*"))
    assert len(kept) == 2  # the page and its parts
    for each in kept if ending is not None else ():
        each.write_bytes(each.read_bytes()[:ending])
    forget()
    assert render(full_result()) == page


def test_without_a_place_to_keep_templates_there_is_a_page(caches, monkeypatch):
    place, _ = caches
    monkeypatch.setattr("jinja2.bccache.tempfile.NamedTemporaryFile", _full)
    assert "</html>" in render(full_result())
    assert not list(place.rglob("__jinja2_*"))


def _full(*_, **__):
    raise OSError(28, "No space left on device")
