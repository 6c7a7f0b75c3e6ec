#!/usr/bin/env python3
"""Hostile readers of `debrief serve`: broken requests, endless ones, and SQL that wants more than it may.

usage: serve.py [--binary PATH] [--seconds S] [--seed N]

One server of the hung job's report is asked until the time is over. It must answer every request with a status of HTTP or close
the connection, within the time that docs/serve.md names, keep within 200 MB itself, write nothing, and serve the report at the end.
"""
import argparse
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/serve"))
from client import Served  # noqa: E402

SERVER_MB = 200
ANSWER_S = 40  # 30 s for a query and some for a busy machine
STATUSES = {200, 206, 308, 400, 403, 404, 405, 413, 414, 416, 421, 431, 501, 505}
# What each would do without limits is in its name or its numbers.
SQL = ["SELECT * FROM enable_logging(storage='file', storage_path='{out}/log')", "SELECT repeat('a', 1000000000)", "SELECT write_log('x')",
       "SELECT * FROM disable_logging()", "SELECT * FROM truncate_duckdb_logs()", "SELECT * FROM checkpoint()", "FROM force_checkpoint('run')",
       "SELECT repeat(repeat('a', 100000), 100000)", "SELECT list(range) FROM range(100000000)", "SELECT string_agg(range::VARCHAR) FROM range(50000000)",
       "SELECT * FROM range(1000000000000)", "SELECT json_serialize_sql('SELECT ' || repeat('(', 100000))", "SELECT " + "(" * 3000 + "1" + ")" * 3000,
       "SELECT " + "1+" * 6000 + "1", "WITH RECURSIVE t AS (SELECT 1 a UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t",
       "SELECT * FROM query('SELECT * FROM enable_logging()')", "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
       "SELECT * FROM arrow_scan(1, 2, 3)", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM '{out}/x.csv'", "COPY (SELECT 1) TO '{out}/x.csv'",
       "SELECT regexp_matches(repeat('a', 100000), '(a*)*b')", "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))", "SELECT bitstring('1', 1000000000)", "SELECT lpad('a', 1000000000, 'b')",
       "SELECT * FROM input POSITIONAL JOIN range(10000000)", "SELECT format('{{:1000000000}}', 1)", "SELECT printf('%1000000000d', 1)", "SELECT 10000::BIGINT ** 10000",
       "PRAGMA enable_profiling", "SET memory_limit='1TB'", "ATTACH '{out}/x.duckdb'", "SELECT getenv('HOME')", "SELECT * FROM glob('/*')", "LOAD httpfs", "SELECT ''"]


def mutated(dice, raw):
    out = bytearray(raw)
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(out) + 1)
        what = dice.randrange(5)
        if what == 0 and at < len(out):
            out[at] = dice.randrange(256)
        elif what == 1:
            out[at:at] = dice.choice((b"\r\n", b"\0", b"%", b"%00", b"..", b"/", b" ", b"\xff" * 20, b"A" * 70000, b"Host: x\r\n", b"\r\n\r\n"))
        elif what == 2:
            del out[at:at + dice.randint(1, 20)]
        elif what == 3:
            out[at:at] = out[:dice.randint(0, 200)]
        else:
            out = out[:at]
            break
    return bytes(out)


def exchange(server, raw, wait_s):
    """The first bytes of the answer; b"" when the server closed, None when it waits for more."""
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.settimeout(wait_s)
        try:
            connection.sendall(raw)
            return connection.recv(4096)
        except TimeoutError:
            return None
        except OSError:
            return b""


def broken_request(dice, server):
    path = dice.choice((f"/{server.token}/", f"/{server.token}/findings.json", f"/{server.token}/api/tables", f"/{server.token}/api/query?sql=SELECT%201", "/", "*"))
    good = f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\nRange: bytes=0-{dice.randrange(99)}\r\n\r\n".encode()
    answer = exchange(server, mutated(dice, good), 0.1)
    if answer:
        status = answer.split(b" ")[1:2]
        assert answer.startswith(b"HTTP/1.1 ") and status and int(status[0]) in STATUSES, answer[:100]


def hostile_query(dice, server, out):
    begun = time.monotonic()
    options = {"limit": dice.choice((1, 200, 10000))} | ({"format": "csv"} if dice.random() < 0.2 else {})
    answer = server.sql(dice.choice(SQL).replace("{out}", str(out)).replace("{{", "{").replace("}}", "}"), **options)
    took = time.monotonic() - begun
    assert answer.status in (200, 400), answer.status
    assert took < ANSWER_S, f"{took:.0f} s for a query"
    assert len(answer.body) < 9 << 20 or "format" in options, len(answer.body)


def leave_in_the_middle(dice, server):
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(f"GET /{server.token}/api/query?sql=SELECT%20count(*)%20FROM%20range(100000000000) HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        time.sleep(dice.uniform(0, 0.05))


def memory_mb(server):
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def attack(server, out, seconds, dice):
    counts = {"requests": 0, "queries": 0, "left": 0}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = dice.random()
        if kind < 0.88:
            broken_request(dice, server)
            counts["requests"] += 1
        elif kind < 0.93:
            hostile_query(dice, server, out)
            counts["queries"] += 1
        else:
            leave_in_the_middle(dice, server)
            counts["left"] += 1
        assert server.process.poll() is None, f"the server ended with {server.process.returncode}: {server.process.stderr.read()[-1000:]}"
    assert memory_mb(server) < SERVER_MB, f"the server takes {memory_mb(server)} MB"
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--seconds", default=15, type=float)
    parser.add_argument("--seed", default=1, type=int)
    options = parser.parse_args()
    binary = options.binary.resolve()
    with tempfile.TemporaryDirectory(prefix="attack.") as name:
        folder = Path(name).resolve()
        subprocess.run([binary, ROOT / "examples/hung-job", "-o", folder / "out", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        before = sorted(path.name for path in folder.rglob("*"))
        with Served(binary, folder / "out") as server:
            counts = attack(server, folder, options.seconds, random.Random(options.seed))
            assert server.request("").status == 200 and server.sql("SELECT count(*) FROM input").status == 200
            most = memory_mb(server)
        assert sorted(path.name for path in folder.rglob("*")) == before, "a reader wrote something"
    print(f"serve: {counts['requests']} broken requests, {counts['queries']} hostile queries, {counts['left']} readers that left; the server took {most} MB")


if __name__ == "__main__":
    sys.exit(main())
