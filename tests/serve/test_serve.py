#!/usr/bin/env python3
"""Tests of `debrief serve`: what it serves, what it refuses, and a thousand readers at once.

usage: test_serve.py [--binary PATH] [--only WORD]

The report is that of examples/hung-job. Every function test_* gets a server of it; the files of the report's
folder that must not be served lie there, too.
"""
import argparse
import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse
from pathlib import Path

from client import Answer, Served

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "build/release/debrief"
# Counts 10^11 rows: nobody waits for its end.
SLOW = "SELECT count(*) FROM range(100000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"


def make_report(binary, folder):
    report = folder / "out"
    subprocess.run([binary, ROOT / "examples/hung-job", "-o", report, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    (folder / "secret.txt").write_text("outside")
    (report / "notes.txt").write_text("not of the report")
    (report / "report_data/to_outside.js").symlink_to("../../secret.txt")
    (report / "report_data/to_store.js").symlink_to("../run.duckdb")
    (report / "report_data/to_inside.js").symlink_to("../findings.json")
    (report / "report_data/folder").mkdir()
    (report / "report_data/large.js").write_bytes(os.urandom(5_000_000))
    os.mkfifo(report / "report_data/pipe.js")
    return report


def test_files(server, report):
    page = server.request("")
    assert page.status == 200 and page.body == (report / "index.html").read_bytes()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cross-origin-resource-policy"] == "same-origin"
    assert server.request("findings.json").headers["content-type"].startswith("application/json")
    for path in (report / "report_data").glob("*.js"):
        if not path.is_symlink() and path.is_file():
            answer = server.request(f"report_data/{path.name}")
            assert answer.status == 200 and answer.body == path.read_bytes(), path.name
            assert answer.headers["content-type"].startswith("text/javascript")
    assert server.request("report_data/to_inside.js").body == (report / "findings.json").read_bytes()


def test_head_and_redirect(server, report):
    head = server.request("index.html", method="HEAD")
    assert head.status == 200 and head.body == b""
    assert int(head.headers["content-length"]) == (report / "index.html").stat().st_size
    bare = server.request(f"/{server.token}")
    assert bare.status == 308 and bare.headers["location"] == f"/{server.token}/"


def test_ranges(server, report):
    whole = (report / "report_data/large.js").read_bytes()
    part = server.request("report_data/large.js", headers=["Range: bytes=1000-1999"])
    assert part.status == 206 and part.body == whole[1000:2000]
    assert part.headers["content-range"] == f"bytes 1000-1999/{len(whole)}"
    assert server.request("report_data/large.js", headers=["Range: bytes=-10"]).body == whole[-10:]
    assert server.request("report_data/large.js", headers=[f"Range: bytes={len(whole)}-"]).status == 416


def test_methods(server, report):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"):
        answer = server.request("", method=method)
        assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD", method
    smuggled = f"GET /{server.token}/ HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
    answer = server.request("", method="POST", headers=[f"Content-Length: {len(smuggled)}", "", smuggled])
    assert answer.status == 405 and b"HTTP/1.1 200" not in answer.body, "a body was taken for a request"


def test_hosts(server, report):
    for host in (f"localhost:{server.port}", f"[::1]:{server.port}"):
        assert server.request("", host=host).status == 200, host
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", "",
                 f"127.0.0.1:{server.port}.evil.example"):
        assert server.request("", host=host).status in (400, 421), host
    double = server.request("", headers=["Host: evil.example"])
    assert double.status == 400, "two hosts"


def test_origins(server, report):
    assert server.request("", headers=[f"Origin: http://127.0.0.1:{server.port}"]).status == 200
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port + 1}"):
        assert server.request("api/tables", headers=[f"Origin: {origin}"]).status == 403, origin


def test_tokens(server, report):
    wrong = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
    for path in ("/", "/index.html", "/api/tables", f"/{wrong}/", f"/{server.token.upper()}x/", f"//{server.token}/",
                 f"/{server.token[:-1]}/index.html", f"/x/{server.token}/index.html", f"/%2e/{server.token}/"):
        answer = server.request(path)
        assert answer.status == 403 and answer.body == b"Forbidden.\n", (path, answer.status)
    with Served(BINARY, report) as other:
        assert other.token != server.token and len(other.token) == 32


def test_paths(server, report):
    refused = ["run.duckdb", "notes.txt", "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "report_data/../run.duckdb",
               "report_data/%2e%2e/run.duckdb", "report_data/..%5c..%5csecret.txt", "report_data%2fcompile.js", "report_data%2Fcompile.js",
               "report_data/..\\run.duckdb", "/etc/passwd", "//etc/passwd", "report_data//etc/passwd", "report_data/", "report_data",
               "report_data/folder", "index.html%00.js", "index.html/", "./index.html", "report_data/%252e%252e/run.duckdb", "%zz",
               "report_data/to_outside.js", "report_data/to_store.js", "report_data/pipe.js", "api/", "api/nothing", "RUN.DUCKDB"]
    for path in refused:
        target = f"/{server.token}/{path}"
        answer = server.request(target)
        assert answer.status == 404 and b"outside" not in answer.body, (path, answer.status)


def test_broken_requests(server, report):
    good = f"GET /{server.token}/ HTTP/1.1\r\nHost: {server.host}\r\n"
    for raw in (b"\r\n\r\n", b"GARBAGE\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET http://x/ HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n",
                (good + " folded: x\r\n\r\n").encode(), (good + "no colon\r\n\r\n").encode(), (good + "a\0b: c\r\n\r\n").encode()):
        assert server.send(raw).status == 400, raw
    assert server.send(good.encode() + b"X: " + b"y" * 70_000 + b"\r\n\r\n").status == 431


def test_pipelined_requests(server, report):
    one = f"GET /{server.token}/findings.json HTTP/1.1\r\nHost: {server.host}\r\n"
    answer = server.send((one + "\r\n" + one + "Connection: close\r\n\r\n").encode())
    assert (b"HTTP/1.1 200 OK" in answer.body) and answer.body.count((report / "findings.json").read_bytes()) == 2


def test_tables(server, report):
    tables = {table["name"]: table for table in server.request("api/tables").json()["tables"]}
    assert tables["input"]["rows"] > 0 and tables["input"]["doc"]
    columns = {column["name"]: column for column in tables["input"]["columns"]}
    assert columns["path"]["type"] == "VARCHAR" and columns["path"]["doc"]
    counted = server.sql("SELECT count(*) FROM input").json()["rows"][0][0]
    assert counted == tables["input"]["rows"]


def test_query_pages(server, report):
    first = server.sql("SELECT range AS n FROM range(500)", limit=200).json()
    assert first["columns"] == [{"name": "n", "type": "BIGINT"}] and first["more"] is True
    assert first["rows"] == [[n] for n in range(200)] and first["ms"] >= 0
    last = server.sql("SELECT range AS n FROM range(500)", limit=200, offset=400).json()
    assert last["rows"] == [[n] for n in range(400, 500)] and last["more"] is False
    values = server.sql("SELECT 9007199254740993, -5, NULL, 'a\"<b', [1, 2], 1.5, true;  \n").json()["rows"]
    assert values == [["9007199254740993", -5, None, 'a"<b', [1, 2], 1.5, True]], values
    for sql in ("SELECT 1 -- a comment", "FROM input", "WITH a AS (SELECT 1) SELECT * FROM a", "SHOW TABLES", "DESCRIBE input"):
        assert server.sql(sql).status == 200, (sql, server.sql(sql).body)
    for limits in ({"limit": 0}, {"limit": 10001}, {"limit": "x"}, {"offset": -1}):
        assert server.sql("SELECT 1", **limits).status == 400, limits


def test_query_bytes_are_bounded(server, report):
    page = server.sql("SELECT repeat('x', 100000) FROM range(1000)", limit=1000)
    assert len(page.body) < 9_000_000 and page.json()["more"] is True and len(page.json()["rows"]) > 10
    assert "larger than a page" in server.sql("SELECT repeat('x', 20000000)").json()["error"]


def test_query_csv(server, report):
    answer = server.sql("SELECT range AS n, 'a,b' AS t FROM range(30000)", format="csv")
    assert answer.headers["content-type"].startswith("text/csv") and "attachment" in answer.headers["content-disposition"]
    lines = answer.body.decode().splitlines()
    assert lines[0] == "n,t" and lines[1] == '0,"a,b"' and len(lines) == 30001


def test_query_refusals(server, report):
    before = sorted((path.name, path.stat().st_size) for path in report.iterdir())
    for sql in ("CREATE TABLE x (a INT)", "CREATE TEMP TABLE x (a INT)", "INSERT INTO input VALUES (1)", "DROP VIEW input", "DELETE FROM input",
                "UPDATE input SET rank = 1", "COPY input TO '/tmp/debrief_serve_test.csv'", "EXPORT DATABASE '/tmp/debrief_serve_test'",
                "ATTACH '/tmp/debrief_serve_test.duckdb'", "INSTALL httpfs", "LOAD httpfs", "SET memory_limit = '1TB'",
                "SET enable_external_access = true", "PRAGMA database_list", "CALL pragma_version()", "SELECT * FROM read_csv('/etc/passwd')",
                "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM glob('/*')", "SELECT * FROM sniff_csv('/etc/passwd')",
                "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM read_json('/etc/passwd')", "FROM query('DROP VIEW input')",
                "SELECT * FROM parquet_metadata('/etc/passwd')", "SELECT 1; SELECT 2",
                "SELECT 1; DROP VIEW input", "SELECT 1) ; DROP VIEW input; SELECT * FROM (SELECT 1", "EXPLAIN ANALYZE SELECT 1", "CHECKPOINT",
                "BEGIN", "PREPARE p AS SELECT 1", "", ";", "SELECT", "SELECT nothing FROM input", "SELECT ?", "SELECT 1\0"):
        answer = server.sql(sql)
        assert answer.status == 400 and answer.json()["error"], (sql, answer.status, answer.body)
    assert sorted((path.name, path.stat().st_size) for path in report.iterdir()) == before
    assert not list(Path("/tmp").glob("debrief_serve_test*"))
    assert server.sql("SELECT count(*) FROM input").status == 200


def test_memory_is_bounded(server, report):
    answer = server.sql("SELECT list(range || repeat('x', 10000)) FROM range(3000000)")
    assert answer.status == 400 and "Out of Memory" in answer.json()["error"], answer.body[:200]
    assert server.sql("SELECT 1").status == 200


async def ask(server, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET /{server.token}/{path} HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    answer = Answer(await reader.read())
    writer.close()
    return answer


async def idle(server, start):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(start)
    return reader, writer


def a_thousand(server, report):
    """A thousand connections at the same time; returns the seconds until the last answer."""
    async def all_of_them():
        start = time.monotonic()
        answers = await asyncio.wait_for(asyncio.gather(*(ask(server, paths[i % 2]) for i in range(1000))), 60)
        return answers, time.monotonic() - start
    paths = ["findings.json", "index.html"]
    wanted = [(report / path).read_bytes() for path in paths]
    answers, seconds = asyncio.run(all_of_them())
    assert all(answer.status == 200 for answer in answers)
    assert all(answer.body == wanted[i % 2] for i, answer in enumerate(answers))
    return seconds


def test_a_thousand_readers(server, report):
    print(f"    1,000 answers in {a_thousand(server, report):.2f} s")


def begin_query(server, sql):
    """A connection on which a query was sent, and nothing read."""
    connection = server.connect()
    connection.sendall(f"GET /{server.token}/api/query?sql={urllib.parse.quote(sql)} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
    return connection


def test_a_thousand_readers_beside_slow_queries(server, report):
    slow = [begin_query(server, SLOW) for _ in range(5)]
    time.sleep(0.5)
    seconds = a_thousand(server, report)
    assert not select.select(slow, [], [], 0)[0], "the queries should still run"
    for connection in slow:
        connection.close()
    print(f"    1,000 answers in {seconds:.2f} s beside slow queries")


def test_a_thousand_sleepers_starve_nobody(server, report):
    async def sleepers():
        head = f"GET /{server.token}/ HTTP/1.1\r\n".encode()
        found = await asyncio.gather(*(idle(server, head if i % 2 else b"") for i in range(1000)))
        start = time.monotonic()
        answer = await ask(server, "findings.json")
        waited = time.monotonic() - start
        assert answer.status == 200 and waited < 5, waited
        # All are closed when their time is over, those that drip a byte now and then included.
        for _ in range(14):
            await asyncio.sleep(1)
            found[1][1].write(b"X")
        for reader, writer in found:
            await asyncio.wait_for(until_closed(reader), 10)
            writer.close()
    asyncio.run(sleepers())


async def until_closed(reader):
    try:
        assert await reader.read() == b""
    except ConnectionError:
        pass  # closed while a byte was on its way


def test_a_reader_that_leaves_ends_its_query(server, report):
    with begin_query(server, SLOW):
        time.sleep(1)
        assert cpu_share(server.process.pid) > 0.05, "the query should run"
    deadline = time.monotonic() + 10
    while cpu_share(server.process.pid) > 0.03:
        assert time.monotonic() < deadline, "the query of a reader that left still runs"


def processes_below(pid):
    """The process, those that it started, and theirs."""
    children = [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]
    return [pid] + [each for child in children for each in processes_below(child)]


def cpu_share(pid):
    """Share of a core that a process and those below it use, over half a second."""
    def ticks():
        used = 0
        for each in processes_below(pid):
            try:
                fields = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
            except FileNotFoundError:
                continue  # it ended meanwhile
            used += int(fields[11]) + int(fields[12])
        return used
    before = ticks()
    time.sleep(0.5)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / 0.5


def test_functions_that_change_state_are_refused(server, report):
    for sql in (f"SELECT * FROM enable_logging(storage='file', storage_path='{report}/log')", "SELECT * FROM disable_logging()",
                "SELECT (FROM enable_logging())", "FROM main.\"ENABLE_logging\"()", "FROM truncate_duckdb_logs()", "FROM checkpoint()",
                "FROM range(3) t(i), LATERAL (FROM enable_logging())", "WITH a AS (FROM enable_logging()) FROM a", "FROM query('SELECT 1')",
                "SELECT write_log('x')", "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", "FROM arrow_scan(1, 2, 3)"):
        answer = server.sql(sql)
        assert answer.status == 400 and "is not run here" in answer.json()["error"], (sql, answer.status, answer.body)
        assert server.sql("SELECT 1").status == 200, sql
    for sql in ("FROM duckdb_tables()", "FROM unnest([1, 2])", "SUMMARIZE input", "SELECT 'FROM enable_logging()'"):
        assert server.sql(sql).status == 200, sql


def test_a_query_has_no_more_than_its_memory(server, report):
    most = 0
    start = time.monotonic()
    with begin_query(server, "SELECT repeat('a', 1000000000)") as connection:
        while not select.select([connection], [], [], 0.02)[0]:
            most = max([most] + [resident_mb(pid) for pid in processes_below(server.process.pid)])
        assert b" 400 " in connection.recv(100)
    assert time.monotonic() - start < 33 and most < 2000, (time.monotonic() - start, most)
    assert resident_mb(server.process.pid) < 200


def resident_mb(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1_000_000
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended meanwhile


def test_the_token_is_no_argument(server, report):
    """--open: every user of the machine sees the arguments of a program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = folder / "xdg-open"
        browser.write_text(f"#!/bin/sh\nstat -c %a \"$1\" > {folder}/mode\ncat \"$1\" > {folder}/page\necho \"$@\" > {folder}/arguments\n")
        browser.chmod(0o755)
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BINARY, "serve", report, "--open", "--quiet"], stdout=theirs, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, PATH=f"{folder}:/usr/bin:/bin", DISPLAY=":7", TMPDIR=name))
        os.close(theirs)
        address = os.read(ours, 1000).decode().split()[0]
        deadline = time.monotonic() + 20
        while not (folder / "arguments").exists() or not (folder / "arguments").read_text():
            assert time.monotonic() < deadline, "no browser was started"
            time.sleep(0.05)
        token = address.split("/")[3]
        assert token not in (folder / "arguments").read_text() and address in (folder / "page").read_text()
        assert (folder / "mode").read_text() == "600\n"
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        os.close(ours)
        assert not list(folder.glob("debrief-*")), "the page is left behind"


def test_no_program_and_no_network(server, report):
    """The filter of the kernel is on in the server and in what runs its queries, unless it is asked not to be."""
    def filters(pid):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(line.split()[1] for line in lines if line.startswith("Seccomp:"))
    with Served(BINARY, report, "--no-sandbox") as open_server:
        assert all(filters(pid) == filters("self") for pid in processes_below(open_server.process.pid))
    if filters(server.process.pid) != "2":
        print("    this kernel or build has no filters")
        return
    assert [filters(pid) for pid in processes_below(server.process.pid)] == ["2", "2"]


def test_signals_end_it(server, report):
    for stop in (signal.SIGTERM, signal.SIGINT):
        with Served(BINARY, report) as other:
            query = begin_query(other, SLOW)
            time.sleep(0.5)
            start = time.monotonic()
            other.process.send_signal(stop)
            assert other.process.wait(20) == 0 and time.monotonic() - start < 5, stop
            query.close()


def test_report_without_store(server, report):
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        subprocess.run([BINARY, ROOT / "examples/hung-job", "-o", out, "--quiet", "--no-store"], check=True, stdout=subprocess.DEVNULL)
        with Served(BINARY, out) as other:
            assert other.request("").status == 200
            for answer in (other.request("api/tables"), other.sql("SELECT 1")):
                assert answer.status == 400 and "--no-store" in answer.json()["error"], answer.body


def test_no_report(server, report):
    for folder in (report / "report_data", report / "nothing", report / "index.html"):
        done = subprocess.run([BINARY, "serve", folder], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1 and "is not a report" in done.stderr and not done.stdout, done
    taken = subprocess.run([BINARY, "serve", report, "--port", str(server.port)], capture_output=True, text=True, timeout=20)
    assert taken.returncode == 1 and "--port" in taken.stderr, taken


def run_test(name, test, server, report):
    start = time.monotonic()
    try:
        test(server, report)
        failure = None
    except Exception:  # whatever it is, it is told and the next test runs
        failure = traceback.format_exc()
    print(f"{'FAIL' if failure else 'ok  '} {name} ({time.monotonic() - start:.1f} s)", flush=True)
    if failure:
        print(failure, flush=True)
    return failure is None


def main():
    global BINARY
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=BINARY)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    BINARY = options.binary.resolve()
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_") and options.only in name]
    with tempfile.TemporaryDirectory(prefix="serve.") as name:
        report = make_report(BINARY, Path(name))
        with Served(BINARY, report) as server:
            outcomes = [run_test(name, test, server, report) for name, test in tests]
            assert server.process.poll() is None, "the server ended by itself"
    print(f"serve: {sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
