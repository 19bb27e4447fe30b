"""Who may speak to the page: tokens, hosts, origins, and names that lead elsewhere. Each attack is a test."""

import json
import os
import shutil
import socket
import threading
from urllib.parse import quote

import pytest

from tests.web.conftest import TABLES
from tests.web.served import Served, is_there, rss, until

ELSEWHERE = "/etc/passwd"
SECRET = "root:"


@pytest.mark.parametrize(
    "path", ["/", "/runs", "/new", "/run/x", "/runs/x/report.html", "/download/records.csv/x", "/look/x"]
)
def test_without_a_session_nothing_is_shown(served, path):
    answer = served.ask("GET", path, cookie=False)
    assert answer.status == 403
    assert "unmask serve" in answer.text
    assert served.ask("GET", path, cookie=False, Cookie="unmask-0=x; " + served.cookie[:-4] + "AAAA").status == 403


@pytest.mark.parametrize("token", ["", "wrong", "../sessions.json", "%2e%2e%2fsessions.json", "x" * 5000])
def test_a_wrong_token_opens_nothing(served, token):
    answer = served.ask("GET", f"/enter?token={token}", cookie=False)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert (served.runs / ".unmask-page" / "sessions.json").exists()


def test_a_token_works_once_and_becomes_a_strict_cookie(served, tmp_path):
    other = Served(tmp_path / "runs").start()
    try:
        first = other.enter()
        assert first.status == 303
        told = first.headers["set-cookie"]
        assert "HttpOnly" in told
        assert "SameSite=Strict" in told
        assert other.entrance.partition("token=")[2] not in told
        assert other.get("/runs").status == 200
        again = other.ask("GET", "/enter?token=" + other.entrance.partition("token=")[2], cookie=False)
        assert again.status == 403
        assert "set-cookie" not in again.headers
    finally:
        other.stop()


def test_the_session_of_one_server_opens_no_other(served, tmp_path):
    other = Served(tmp_path / "runs").start()
    try:
        assert other.ask("GET", "/runs", Cookie=served.cookie).status == 403
        name = other.enter().headers["set-cookie"].partition("=")[0]
        assert (
            served.ask("GET", "/runs", cookie=False, Cookie=f"{name}={served.cookie.partition('=')[2]}").status == 403
        )
    finally:
        other.stop()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.evil.example:{port}", "127.0.0.1:1"]
)
def test_a_foreign_host_is_refused(served, host):
    """DNS rebinding: a name of somebody else that leads to this machine."""
    assert served.get("/runs", Host=host.format(port=served.port)).status == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""]
)
def test_a_foreign_origin_is_refused(served, origin):
    assert served.get("/runs", Origin=origin.format(port=served.port)).status == 403


@pytest.mark.parametrize(
    "path", ["/try", "/compare", "/delete/x", "/cancel/x", "/decide/x", "/new/audit", "/start/x", "/roles/x"]
)
@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
def test_a_form_of_another_site_does_nothing(served, path, origin):
    before = sorted(os.listdir(served.runs))
    headers = {"Content-Type": "text/plain"} | ({"Origin": origin} if origin else {})
    assert served.ask("POST", path, "sure=yes", **headers).status == 403
    assert served.post(path, [("sure", "yes")], **{"Sec-Fetch-Site": "cross-site"}).status == 403
    assert (
        served.post(path, [("sure", "yes")], **{"Sec-Fetch-Site": "same-site"}).status == 403
    )  # another port of this machine
    assert sorted(os.listdir(served.runs)) == before


def test_what_other_sites_embed_is_refused(served):
    for mode in ("no-cors", "cors"):
        assert served.get("/runs", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}).status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_do_not_exist(served, method):
    assert served.ask(method, "/runs", Origin=served.origin).status == 405


def test_every_answer_forbids_what_pages_do_not_need(served):
    for path in ("/runs", "/new", "/nothing", "/static/page.js", "/run/nothing"):
        headers = served.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


UPWARDS = [
    "..",
    "../..",
    "../../etc",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "%252e%252e%252fetc",
    "..\\..\\etc",
    "a/../../b",
    ".unmask-page",
    ".unmask-page/uploads",
    "./x",
    "/etc/passwd",
    "//etc/passwd",
    "%00",
    "x%00y",
    "a" * 3000,
    "%ff%fe",
    "....//....//etc",
]
PLACES = [
    "/run/{}",
    "/runs/{}/report.html",
    "/progress/{}",
    "/download/report.html/{}",
    "/download/{}/x",
    "/delete/{}",
    "/decide/{}",
    "/draft/{}",
    "/look/{}",
    "/new/{}",
    "/runs/.unmask-page/comparisons/{}/comparison.html",
    "/static/{}",
]


@pytest.mark.parametrize("place", PLACES)
def test_no_address_leads_upwards(served, place):
    for name in UPWARDS:
        answer = served.get(place.format(name))
        assert answer.status in (400, 404), (place, name, answer.status)
        assert SECRET not in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "place",
    [
        "/cancel/{}",
        "/again/{}",
        "/delete/{}",
        "/renew/{}",
        "/decide/{}",
        "/anew/{}",
        "/start/{}",
        "/roles/{}",
        "/discard/{}",
    ],
)
def test_no_form_leads_upwards(served, place):
    for name in UPWARDS:
        answer = served.post(
            place.format(name), [("sure", "yes"), ("decision", "publish"), ("reviewer", "x"), ("reasons", "x")]
        )
        assert answer.status in (400, 404), (place, name, answer.status)
    for name in ("..", "../..", ELSEWHERE, ".unmask-page", "x\0y"):
        assert served.post("/compare", [("run", name), ("run", "..")]).status in (400, 404)
    assert (served.runs / ".unmask-page").is_dir()


@pytest.mark.parametrize(
    "path",
    [
        ELSEWHERE,
        "../../../../../../etc/passwd",
        "link.csv",
        "folder/passwd",
        ".unmask-page/sessions.json",
        "real.csv\0.csv",
        "~/x",
        "real.csv/..",
    ],
)
def test_no_file_outside_can_be_named(served, path):
    data = served.runs.parent / "data"
    for link, target in (("link.csv", ELSEWHERE), ("folder", "/etc")):
        if not os.path.lexists(data / link):
            os.symlink(target, data / link)
    parts = [("path-real", None, path), ("path-synthetic", None, "synthetic.csv")]
    answer = served.upload("/new/audit", parts)
    assert answer.status == 400, path
    assert "can be named here" in answer.text
    assert SECRET not in answer.text


def test_links_among_the_runs_are_not_followed(served):
    secret = served.runs.parent / "elsewhere"
    secret.mkdir()
    (secret / "result.json").write_text("{}")
    (secret / "report.html").write_text("<p>of somebody else</p>")
    os.symlink(secret, served.runs / "linked")
    inside = served.runs / "inside"
    inside.mkdir()
    for name in ("result.json", "report.html", "records.csv", "run.json", "decision.json"):
        os.symlink(ELSEWHERE, inside / name)
    os.mkfifo(inside / "progress.json")  # would be waited for without end
    try:
        assert "linked" not in served.get("/runs").text
        for place in PLACES[:7]:
            for name in ("linked", "inside"):
                answer = served.get(place.format(name))
                assert SECRET not in answer.text
                assert "of somebody else" not in answer.text
        assert served.post("/delete/linked", [("sure", "yes")]).status == 404
        assert (secret / "result.json").exists()
    finally:
        (served.runs / "linked").unlink()
        shutil.rmtree(inside)


def test_a_queue_that_a_stranger_left_runs_nothing(served, tmp_path):
    """The second line: a folder from elsewhere is refused as a whole."""
    Served(tmp_path / "runs").start().stop()
    touched = tmp_path / "touched"
    own = tmp_path / "runs" / ".unmask-page" / "jobs"
    job = '{"id": "%s", "run": "x", "verb": "%s", "words": %s, "queued": 1, "state": "waiting", "pid": 0, "began": ""}'
    words = {
        "a" * 16: ("everyone", f'["{TABLES}/real.csv", "--generator=command: touch {touched}"]'),
        "b" * 16: ("everyone", '["/etc/passwd", "--generator=raw"]'),
        "c" * 16: ("synthesize; touch", "[]"),
        "d" * 16: ("epsilon", '["--trust", "--plan=/tmp/plan.toml"]'),
    }
    for name, (verb, told) in words.items():
        (own / f"{name}.json").write_text(job % (name, verb, told))
    running = tmp_path / "runs" / ".unmask-page" / "jobs" / f"{'e' * 16}.json"
    running.write_text(
        job.replace('"waiting", "pid": 0, "began": ""', f'"running", "pid": {os.getpid()}, "began": "1:2"')
        % ("e" * 16, "audit", "[]")
    )
    other = Served(tmp_path / "runs").start()
    try:
        other.enter()
        (other.runs / "x").mkdir(exist_ok=True)
        until(lambda: other.state("x") == "failed")
        assert other.post("/cancel/x").status == 400  # nobody's process is ended
        assert is_there(os.getpid())
        assert not touched.exists()
        assert other.get("/runs").status == 200
    finally:
        other.stop()


def test_two_hundred_requests_at_once(served):
    answers, problems = [], []

    def ask(number):
        try:
            answers.append(served.get(("/runs", "/new", "/run/nothing", "/static/page.css")[number % 4]).status)
        except OSError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert sorted(set(answers)) == [200, 404]
    assert served.process is not None
    assert rss(served.process.pid) < 150


def test_broken_requests_are_survived(served):
    for raw in (
        b"\0\0\0",
        b"GET /runs\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"POST /try HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
            line.sendall(raw)
            line.shutdown(socket.SHUT_WR)
            said = line.recv(65_536)
        assert b"Traceback" not in said
        assert not said.startswith(b"HTTP/1.1 2")
    assert served.get("/runs").status == 200


def test_code_is_refused_unless_the_server_trusts(served, tmp_path):
    touched = tmp_path / "touched"
    for generator in (f"command: touch {touched}", f"./{tmp_path}/x.py:X", "os:system"):
        draft = served.upload("/new/epsilon", [("path-real", None, "")]).location
        answer = served.post(draft.replace("/draft/", "/start/"), [("choice-generator", generator)])
        assert answer.status == 400, answer.text
        assert "unmask serve --trust" in answer.text
        served.post(draft.replace("/draft/", "/discard/"))
    assert not touched.exists()


def test_a_second_server_hands_out_a_new_address(served):
    second = Served(served.runs)
    second.port = 0
    second.start()
    assert second.process is not None
    assert second.process.wait(timeout=60) == 0
    second.process.stderr.close()
    assert second.port == served.port
    assert second.enter().status == 303


def test_a_run_directory_of_a_stranger_is_shown_as_text(served):
    """Damaged, endless and hostile results: a sentence for each, nothing runs, and the list goes on."""
    evil = "<script>alert(1)</script><img src=//x.example/y onerror=alert(2)>"
    plain = json.loads((TABLES / "audit" / "result.json").read_text())
    for finding in plain["findings"]:
        finding["title"] = finding["advice"] = finding["name"] = evil
    plain["notes"] = [evil] * 3
    texts = {
        "nested": "[" * 100_000,
        "empty": "{}",
        "bytes": "\udcff\0",
        "number": '{"format": ' + "9" * 5000 + "}",
        "evil": json.dumps(plain),
        "other": '"<script>alert(1)</script>"',
    }
    for name, text in texts.items():
        folder = served.runs / "strange" / f"{name} <b>&amp;'\""
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        (folder / "run.json").write_text(
            json.dumps({"finished": evil, "command": [evil], "files": [{"role": evil, "name": evil, "sha256": "0"}]})
        )
        (folder / "progress.json").write_text('{"pid": 1, "state": "running", "stage": "<script>"}')
        (folder / "decision.json").write_text(json.dumps({"version": 1, "reviewer": evil}))
        (folder / "report.html").write_text(f"<!doctype html>{evil}")
    try:
        until(lambda: "being read" not in served.get("/runs?q=strange").text)
        shown = [served.get("/runs?q=strange")]
        for name in texts:
            path = quote(f"strange/{name} <b>&amp;'\"")
            shown += [served.get(place.format(path)) for place in PLACES[:3]]
            shown += [served.get(f"/{page}/{path}") for page in ("decide", "delete")]
        assert [answer.status for answer in shown] == [200] * len(shown)
        for answer in shown:
            if answer.headers["content-type"].startswith("text/html"):  # and not JSON, which no browser renders
                assert "<script>alert" not in answer.text
                assert "<img" not in answer.text
                assert "<b>&amp;'" not in answer.text
            assert "Traceback" not in answer.text
    finally:
        shutil.rmtree(served.runs / "strange")
