"""Files that arrive: how large, how slow, under which names, and what is in them."""

import gzip
import http.client
import os
import socket
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.web.served import BOUNDARY, Served, multipart, rss, until
from unmask.web import uploads

REAL = "age,sex\n" + "".join(f"{20 + row % 50},{'mf'[row % 2]}\n" for row in range(60))


def kept(served):
    top = served.runs / ".unmask-page" / "uploads"  # os.walk: folders may be removed meanwhile
    return [Path(folder) / name for folder, _, names in os.walk(top) for name in names]


def test_five_gigabytes_are_refused_before_they_are_sent(tmp_path):
    server = Served(tmp_path / "runs", ("--upload-limit=1GB",)).start()
    try:
        server.enter()
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        line.putrequest("POST", "/new/audit")
        for name, value in (
            ("Content-Length", str(5 * 10**9)),
            ("Content-Type", f"multipart/form-data; boundary={BOUNDARY}"),
            ("Cookie", server.cookie),
            ("Origin", server.origin),
        ):
            line.putheader(name, value)
        line.endheaders()
        line.send(multipart([("real", "real.csv", REAL)])[:200])
        answer = line.getresponse()
        assert answer.status == 413
        assert b"more than 1,000 MB" in answer.read()
        line.close()
        assert kept(server) == []
    finally:
        server.stop()


def test_an_upload_of_unknown_size_is_cut_at_the_limit(served):
    """Five times the limit, in pieces that do not say how many will come."""
    before = kept(served)
    line = socket.create_connection(("127.0.0.1", served.port), timeout=60)
    line.sendall(
        f"POST /new/audit HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.origin}\r\nCookie: {served.cookie}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    )
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="real"; filename="real.csv"\r\n\r\n'.encode()
    said = b""
    try:
        for piece in (head, *[b"x" * 50_000] * 100):
            line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    except OSError:
        pass  # it was told to stop
    line.settimeout(60)
    try:
        while chunk := line.recv(65_536):
            said += chunk
    except OSError:
        pass
    line.close()
    assert b" 413 " in said[:40] or said == b""  # a reset may swallow the answer
    until(lambda: kept(served) == before)
    assert served.get("/runs").status == 200


def apart(read):
    """Run it in a thread of its own: a browser that another test left open has a loop in this one."""
    import anyio

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, read).result(timeout=60)


def test_a_slow_upload_is_given_up_and_holds_nobody_up(monkeypatch):
    """The clock of the reader is ours: nothing arrives for longer than it waits."""
    import anyio
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

    monkeypatch.setattr(uploads, "IDLE", 0.05)

    async def never():
        await anyio.sleep(3600)

    async def read():
        request = Request({"type": "http", "method": "POST", "headers": []}, never)
        return [chunk async for chunk in uploads._chunks(request, 1000)]

    with pytest.raises(HTTPException) as refused:
        apart(read)
    assert refused.value.status_code == 408

    monkeypatch.setattr(uploads, "IDLE", 60.0)
    monkeypatch.setattr(uploads, "PATIENCE", -1.0)

    async def drip():
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def read_drips():
        request = Request({"type": "http", "method": "POST", "headers": []}, drip)
        return [chunk async for chunk in uploads._chunks(request, 10**9)]

    with pytest.raises(HTTPException) as refused:
        apart(read_drips)
    assert refused.value.status_code == 408


def test_others_are_served_while_uploads_dawdle(served):
    before = len(kept(served))
    lines = []
    for _ in range(20):
        line = socket.create_connection(("127.0.0.1", served.port), timeout=30)
        line.sendall(
            f"POST /new/audit HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.origin}\r\nCookie: {served.cookie}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: 10000\r\n\r\n--{BOUNDARY}".encode()
        )
        lines.append(line)
    began = time.monotonic()
    assert served.get("/runs").status == 200
    assert time.monotonic() - began < 20  # and not the half minute that the others are waited for
    for line in lines:
        line.close()
    until(lambda: len(kept(served)) == before)


NAMES = [
    "../../../../tmp/evil.csv",
    "..\\..\\evil.csv",
    "/etc/cron.d/evil",
    "con.csv",
    'a"b.csv',
    "<img src=x onerror=alert(1)>.csv",
    "x" * 900 + ".csv",
    "real.csv\u202egpj.exe",
    ".htaccess",
    "..",
    "%2e%2e%2f.csv",
    "$(touch evil).csv",
    "; rm -rf ~.csv",
    "-rf.csv",
    "--out=evil.csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_shown_and_never_a_path(served, name):
    before = set(kept(served))
    parts = [("real", name.replace('"', "%22"), REAL), ("synthetic", name.replace('"', "%22"), REAL)]
    answer = served.upload("/new/audit", parts)
    assert answer.status == 303
    new = {path.name for path in set(kept(served)) - before}
    assert new == {"real.csv", "synthetic.csv"}
    for path in set(kept(served)) - before:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    shown = served.get(answer.location).text
    assert "<img src=x" not in shown
    assert "\u202e" not in shown
    served.post(answer.location.replace("/draft/", "/discard/"))
    assert set(kept(served)) == before


def test_names_of_fields_are_no_paths_either(served):
    before = set(kept(served))
    answer = served.upload("/new/audit", [("../../evil", "x.csv", REAL), ("real", "a.csv", REAL)])
    assert answer.status == 400  # the synthetic table is missing
    assert "Synthetic is missing" in answer.text
    assert set(kept(served)) == before
    assert not (served.runs.parent / "evil.csv").exists()


def test_a_form_that_is_cut_off_leaves_nothing(served):
    before = set(kept(served))
    whole = multipart([("real", "a.csv", REAL), ("synthetic", "b.csv", REAL)])
    for cut in (10, 60, 150, len(whole) - 20):
        answer = served.ask(
            "POST",
            "/new/audit",
            whole[:cut],
            Origin=served.origin,
            Content_Type=f"multipart/form-data; boundary={BOUNDARY}",
        )
        assert answer.status == 400, (cut, answer.text)
    for kind in ("multipart/form-data", "text/plain", "application/json", "multipart/form-data; boundary="):
        assert served.ask("POST", "/new/audit", whole, Origin=served.origin, Content_Type=kind).status == 415
    assert set(kept(served)) == before
    parts = [(f"x{number}", None, "y") for number in range(500)]
    assert served.upload("/new/audit", parts).status == 413


def test_a_bomb_is_told_in_a_sentence(served):
    """A small file that would fill the memory: 40 MB of zeros in 40 kB, where 1 MB may be uploaded."""
    bomb = gzip.compress(b"a,b\n" + b"0,0\n" * 10_000_000)
    assert len(bomb) < 200_000
    answer = served.upload("/new/audit", [("real", "real.csv.gz", bomb), ("synthetic", "synthetic.csv", REAL)])
    assert answer.status == 303
    until(lambda: "being read" not in served.get(answer.location).text)
    shown = served.get(answer.location).text
    assert "cannot be audited as they are" in shown
    assert "UNMASK_MAX_EXPANDED" in shown
    assert "Traceback" not in shown
    assert served.process is not None
    assert rss(served.process.pid) < 150
    served.post(answer.location.replace("/draft/", "/discard/"))


def test_uploads_go_when_their_draft_goes(served):
    before = set(kept(served))
    draft = served.upload(
        "/new/audit", [("real", "a.csv", REAL), ("synthetic", "b.csv", REAL), ("synthetic", "c.csv", REAL)]
    ).location
    assert {path.name for path in set(kept(served)) - before} == {"real.csv", "synthetic.csv", "synthetic-2.csv"}
    assert served.post(draft.replace("/draft/", "/discard/")).location == "/new"
    assert set(kept(served)) == before
    assert served.get(draft).status == 400
