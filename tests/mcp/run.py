#!/usr/bin/env python3
"""Tests of `debrief mcp`: recorded transcripts of both revisions, every tool, paths that must be refused, hostile clients.

usage: run.py [--binary PATH] [--update]

A transcript (transcripts/*.txt) has the client's lines behind "> " and the server's behind "< "; $ROOT stands for the folder
of the jobs, and "< ~" for a line whose begin alone is compared. --update writes what the server says now.
"""
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from client import LEGACY, META, MODERN, Client

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
LIMIT = 4 << 20


def make_world(folder):
    """Jobs that clients may read, and a secret beside them that they may not."""
    root = folder / "jobs"
    root.mkdir()
    shutil.copytree(ROOT / "examples/hung-job", root / "hung-job")
    shutil.copytree(ROOT / "examples/two-rank-profile", root / "profile")
    (folder / "outside").mkdir()
    (folder / "outside/secret.txt").write_text("the secret\n")
    (root / "link.txt").symlink_to(folder / "outside/secret.txt")
    (root / "link_folder").symlink_to(folder / "outside")
    shutil.copytree(ROOT / "examples/out-of-memory", root / "linked")
    (root / "linked/rank0.log").symlink_to(folder / "outside/secret.txt")
    (root / "lines.txt").write_bytes(b"".join(b"line %d\r\n" % i for i in range(1, 1001)) + b"bad \xff\n" + b"x" * 100_000)
    with gzip.open(root / "lines.gz", "wb") as packed:
        packed.write((root / "lines.txt").read_bytes())
    with tarfile.open(root / "job.tar.gz", "w:gz") as archive:
        archive.add(root / "lines.txt", "logs/lines.txt")
    os.mkfifo(root / "fifo")
    return root


# ---- Transcripts

def replay(binary, root, path):
    """What the transcript would be now."""
    said = []
    lines = path.read_text().splitlines()
    with Client(binary, root) as client:
        for line in lines:
            if line.startswith("> "):
                said.append(line)
                client.send_bytes(line[2:].encode() + b"\n")
            elif line.startswith("< "):
                answer = client.line().decode().replace(str(root), "$ROOT")
                begin = line[3:].removesuffix("...") if line.startswith("< ~") else None
                said.append(line if begin is not None and answer.startswith(begin) else "< " + answer)
            else:
                said.append(line)
        client.process.stdin.close()
        said += ["< " + rest for rest in client.process.stdout.read().decode().splitlines()]
    return "\n".join(said) + "\n"


def transcripts(binary, root, update):
    for path in TRANSCRIPTS:
        now = replay(binary, root, path)
        if update:
            path.write_text(now)
        wanted = path.read_text().splitlines()
        different = [f"{path.name}: wanted {one}\n  got {two}" for one, two in zip(wanted, now.splitlines()) if one != two]
        assert len(wanted) == len(now.splitlines()) and not different, "\n".join(different) or f"{path.name}: another number of lines"


# ---- Tools and resources

def tools(binary, root):
    with Client(binary, root) as client:
        for tool in client.request("tools/list")["result"]["tools"]:
            schema = tool["inputSchema"]
            assert re.fullmatch(r"[\w.-]{1,128}", tool["name"]) and tool["description"]
            assert schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"])
        is_error, opened = client.call("open_job", path="hung-job")
        assert not is_error and opened["findings"][0]["ranks"] == [5] and "Rank 5" in opened["verdict"], opened
        report = opened["report"]
        _, listed = client.call("list_findings", report=report, limit=1)
        assert len(listed["findings"]) == 1 and listed["count"] == opened["count"]
        _, explained = client.call("explain_finding", report=report, finding="f1")
        sql = next(one["sql"] for one in explained["evidence"] if one["sql"])
        _, rows = client.call("query_sql", report=report, sql=sql)
        assert rows["rows"] and rows["columns"][0]["name"] == "row", rows
        _, page = client.call("query_sql", report=report, sql="SELECT range AS n FROM range(100)", limit=3, offset=2)
        assert page["rows"] == [[2], [3], [4]] and page["more"], page
        _, same = client.call("diff_runs", before="hung-job", after="hung-job")
        assert same["empty"], same


def sql_is_read_only(binary, root):
    with Client(binary, root) as client:
        report = client.call("open_job", path="profile")[1]["report"]
        for sql in ["CREATE TABLE t(i INT)", "DROP VIEW input", "COPY (SELECT 1) TO 'x.csv'", "SELECT * FROM read_text('/etc/passwd')",
                    "ATTACH 'x.db'", "SET memory_limit='1TB'", "SELECT 1; SELECT 2", "", "INSTALL httpfs", "SELECT * FROM no_such_table"]:
            is_error, text = client.call("query_sql", report=report, sql=sql)
            assert is_error and text, sql
        for bounds in [{"limit": 0}, {"limit": 10_001}, {"offset": -1}]:
            assert client.call("query_sql", report=report, sql="SELECT 1", **bounds)[0]
        is_error, text = client.call("query_sql", report=report, sql="SELECT repeat('a', 20000000)")
        assert is_error and len(text) < 1000, text


def resources(binary, root):
    with Client(binary, root) as client:
        assert client.request("resources/list")["result"]["resources"] == []
        client.call("open_job", path="hung-job")
        listed = {one["uri"] for one in client.request("resources/list")["result"]["resources"]}
        assert {"debrief://r1/findings", "debrief://r1/tables", "debrief://r1/table/comm_op"} <= listed, listed
        for uri in sorted(listed)[:3] + ["debrief://r1/tables"]:
            (content,) = client.request("resources/read", {"uri": uri})["result"]["contents"]
            assert content["uri"] == uri and json.loads(content["text"])
        for uri in ["debrief://r1/table/nothing", "debrief://r9/findings", "file:///etc/passwd", "debrief://..%2F..%2Fetc/findings", ""]:
            error = client.request("resources/read", {"uri": uri})["error"]
            assert error["code"] == -32602 and error["data"]["uri"] == uri, error
        client.initialize()
        assert client.request("resources/read", {"uri": "debrief://r9/findings"}, modern=False)["error"]["code"] == -32002


def lines(binary, root):
    with Client(binary, root) as client:
        for path in ["lines.txt", str(root / "lines.txt"), "lines.gz", "job.tar.gz!logs/lines.txt"]:
            is_error, read = client.call("read_lines", path=path, line=500, before=1, after=2)
            assert not is_error and read["lines"] == [f"line {i}" for i in range(499, 503)] and read["more"], (path, read)
            assert read["first_line"] == 499
        _, start = client.call("read_lines", path="lines.txt", line=1, before=5, after=0)
        assert start["lines"] == ["line 1"] and start["first_line"] == 1
        _, end = client.call("read_lines", path="lines.txt", line=1002, before=1, after=200)
        assert end["lines"][0] == "bad \ufffd" and len(end["lines"][1]) == 4000 and not end["more"], end["first_line"]
        assert client.call("read_lines", path="lines.txt", line=5000)[1]["lines"] == []
        for path in ["fifo", "hung-job", "job.tar.gz!nothing", "nothing.txt"]:
            assert client.call("read_lines", path=path, line=1)[0], path
        assert client.call("read_lines", path="lines.txt", line=0)[0]


def opened_report(binary, root):
    """A folder that debrief wrote below the root needs no new analysis."""
    subprocess.run([binary, root / "profile", "-o", root / "report", "--no-report", "--quiet"], check=True, capture_output=True)
    with Client(binary, root) as client:
        assert client.call("open_job", path="report")[1]["report"] == "report"
        assert client.call("query_sql", report="report", sql="SELECT count(*) FROM input")[1]["rows"]
        assert client.call("list_findings", report="profile")[0]
    shutil.rmtree(root / "report")


# ---- What must be refused

def outside(binary, root):
    """No answer has the secret, whatever the name that leads to it."""
    secret = root.parent / "outside/secret.txt"
    names = [str(secret), "../outside/secret.txt", "link.txt", "link_folder/secret.txt", "hung-job/../../outside/secret.txt",
             f"/proc/self/root{secret}", "/proc/self/environ", "lines.txt/../link.txt", f"{root}/../outside/secret.txt"]
    with Client(binary, root) as client:
        for name in names:
            is_error, text = client.call("read_lines", path=name, line=1)
            assert is_error and "the secret" not in text, name
            for answer in (client.call("open_job", path=name), client.call("diff_runs", before=name, after="hung-job"),
                           client.call("list_findings", report=name)):
                assert answer[0] and "the secret" not in answer[1], (name, answer)
        for name in ["a\0b", "", "x" * 5000]:
            assert client.call("open_job", path=name)[0]
        is_error, text = client.call("open_job", path="linked")
        assert is_error and "link" in text, text
        missing, there = (client.call("read_lines", path=f"../outside/{name}", line=1)[1] for name in ("nothing", "secret.txt"))
        assert missing.replace("nothing", "*") == there.replace("secret.txt", "*"), "it can be found out what lies outside"


def linked_store(binary, root):
    """A report whose store is a link to a file outside is refused."""
    subprocess.run([binary, root / "profile", "-o", root / "forged", "--no-report", "--no-store", "--quiet"], check=True, capture_output=True)
    (root / "forged/run.duckdb").symlink_to(root.parent / "outside/secret.txt")
    with Client(binary, root) as client:
        for answer in (client.call("open_job", path="forged"), client.call("explain_finding", report="forged", finding="f1"),
                       client.call("query_sql", report="forged", sql="SELECT 1"), client.call("list_findings", report="forged")):
            assert answer[0] and "is not below" in answer[1], answer
    shutil.rmtree(root / "forged")


def leaves_nothing(binary, root):
    """Neither the job's folder nor the temporary folder is changed, whether the client leaves or the server is ended."""
    with tempfile.TemporaryDirectory(prefix="mcp_tmp.") as name:
        os.environ["TMPDIR"] = name
        try:
            for end in (None, signal.SIGTERM):
                before = sorted(map(str, root.rglob("*")))
                with Client(binary, root) as client:
                    client.call("open_job", path="hung-job")
                    assert os.listdir(name)
                    if end:
                        client.process.send_signal(end)
                        client.process.wait(20)
                assert client.process.returncode == 0 and os.listdir(name) == [], os.listdir(name)
                assert sorted(map(str, root.rglob("*"))) == before
        finally:
            del os.environ["TMPDIR"]


# ---- The protocol's edges

def versions(binary, root):
    with Client(binary, root) as client:
        found = client.request("server/discover")["result"]
        assert found["supportedVersions"] == [MODERN, LEGACY] and set(found["capabilities"]) == {"tools", "resources"}
        client.send({"jsonrpc": "2.0", "id": "v", "method": "tools/list", "params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}}})
        error = client.receive()["error"]
        assert error["code"] == -32022 and error["data"] == {"supported": [MODERN, LEGACY], "requested": "1900-01-01"}
        for meta in [{}, {"io.modelcontextprotocol/protocolVersion": MODERN}, {"io.modelcontextprotocol/protocolVersion": 7}]:
            client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
            assert client.receive()["error"]["code"] == -32602, meta
        assert client.request("ping")["error"]["code"] == -32601  # the newer revision has none
        assert client.request("ping", modern=False)["result"] == {}
        for asked, agreed in [("2024-11-05", LEGACY), (MODERN, LEGACY), (LEGACY, LEGACY), ("2025-06-18", "2025-06-18")]:
            answer = client.request("initialize", {"protocolVersion": asked, "capabilities": {}}, modern=False)
            assert answer["result"]["protocolVersion"] == agreed and answer["result"]["serverInfo"]["name"] == "debrief"
        assert client.request("initialize", {}, modern=False)["error"]["code"] == -32602
        assert client.request("tools/list", modern=False)["result"]["tools"] and client.request("tools/list")["result"]["tools"]
        assert "resultType" not in client.request("tools/list", modern=False)["result"]


def errors(binary, root):
    with Client(binary, root) as client:
        cases = [("no/such", {}, -32601), ("tools/call", {}, -32602), ("tools/call", {"name": "no_such"}, -32602), ("resources/read", {}, -32602),
                 ("tools/call", {"name": "open_job", "arguments": [1]}, -32602), ("tools/list", {"cursor": "x"}, -32602), ("prompts/list", {}, -32601)]
        for method, params, code in cases:
            assert client.request(method, params)["error"]["code"] == code, method
        for arguments in [{}, {"path": 1}, {"path": "x", "more": 1}, {"path": None}]:
            is_error, text = client.call("open_job", **arguments)
            assert is_error and "path" in text, arguments
        assert client.call("query_sql", report="r1", sql="SELECT 1", limit=1.5)[0]
        assert client.call("list_findings", report="r1")[0]
        for text in ["1", '"x"', "null", "{", "[]", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}',
                     '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"method":7}', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}',
                     '{"jsonrpc":"2.0","id":1,"method":"ping"} x', '{"jsonrpc":"2.0","id":1,"method":"ping","x":NaN}']:
            client.send_bytes(text.encode() + b"\n")
            assert client.receive()["error"]["code"] in (-32700, -32600, -32602), text


def ids(binary, root):
    with Client(binary, root) as client:
        for one in ["a", "", "ü\u2028\"\\\n", 0, -1, 2**53, 10**30, 1.5, "x" * 900]:
            client.send({"jsonrpc": "2.0", "id": one, "method": "ping"})
            assert client.receive()["id"] == one, one
        for one in [None, True, [1], {"a": 1}, "x" * 5000]:
            client.send({"jsonrpc": "2.0", "id": one, "method": "ping"})
            answer = client.receive()
            assert answer["error"]["code"] == -32600 and "id" not in answer, one


def silent(binary, root):
    """Notifications and answers get no answer."""
    with Client(binary, root) as client:
        for message in [{"method": "notifications/initialized"}, {"method": "notifications/cancelled", "params": {"requestId": 99}}, {"method": "no/such"},
                        {"method": "tools/list", "params": 7}, {"id": 5, "result": {}}, {"id": 5, "error": {"code": 1, "message": "x"}}]:
            client.send({"jsonrpc": "2.0", **message})
        client.send_bytes(b"\n\r\n   \n")
        client.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
        assert client.receive()["id"] == "last"


def cancel(binary, root):
    """Work that is cancelled ends, and nothing is sent for it; what waits behind it is done."""
    slow = "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE a.range % 7 = b.range % 3"
    with Client(binary, root) as client:
        report = client.call("open_job", path="profile")[1]["report"]
        call = {"name": "query_sql", "arguments": {"report": report, "sql": slow}, "_meta": META}
        for one in ("slow", "never"):
            client.send({"jsonrpc": "2.0", "id": one, "method": "tools/call", "params": call})
        client.send({"jsonrpc": "2.0", "id": "quick", "method": "tools/list", "params": {"_meta": META}})
        assert client.receive()["id"] == "quick", "a list waits for a query"
        for one in ("never", "slow"):
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
        begun = time.monotonic()
        assert not client.call("query_sql", report=report, sql="SELECT 1")[0] and time.monotonic() - begun < 20


def subscription(binary, root):
    with Client(binary, root) as client:
        for one in ("keep", "drop"):
            client.send({"jsonrpc": "2.0", "id": one, "method": "subscriptions/listen", "params": {"_meta": META, "notifications": {"toolsListChanged": True}}})
            told = client.receive()
            assert told["method"] == "notifications/subscriptions/acknowledged" and told["params"]["notifications"] == {}
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "drop"}})
        client.process.stdin.close()
        closed = client.receive()
        assert closed["id"] == "keep" and closed["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "keep"
        assert client.line() == b""


# ---- Hostile clients

def memory_kb(process):
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1])


def long_message(binary, root):
    """100 MB in one line: an error, and little memory."""
    with Client(binary, root) as client:
        before = memory_kb(client.process)
        for _ in range(100):
            client.send_bytes(b"[" * 1_000_000)
        client.send_bytes(b"\n")
        assert client.receive()["error"]["code"] == -32600
        client.send({"jsonrpc": "2.0", "id": "x" * 2000, "method": "ping", "padding": "x" * (LIMIT - 3000)})
        assert client.receive()["error"]["code"] == -32600
        client.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "padding": "x" * (LIMIT - 1000)})
        assert client.receive()["result"] == {}
        assert memory_kb(client.process) - before < 60_000, memory_kb(client.process)


def hostile_bytes(binary, root):
    deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    many = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {str(i): i for i in range(5000)}}).encode()
    with Client(binary, root) as client:
        for line in [deep, many, b"\xff\xfe\x00", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xff"}', b"\0" * 1000, b"{" * 50_000]:
            client.send_bytes(line + b"\n")
            assert "error" in client.receive(), line[:50]
        is_error, _ = client.call("read_lines", path="\ud800", line=1)
        assert is_error
        for byte in json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "ping"}).encode() + b"\r\n":
            client.send_bytes(bytes([byte]))
        assert client.receive()["id"] == "slow"


def fuzzed(binary, root):
    """Lines of the transcripts with bytes changed, cut out and doubled: whatever comes back are messages, and the server goes on."""
    chance = random.Random(7)
    seeds = [line[2:].encode() for path in TRANSCRIPTS for line in path.read_text().splitlines() if line.startswith("> ") and "hung-job\"" not in line]
    with Client(binary, root) as client:
        def send():
            for _ in range(1500):
                line = bytearray(chance.choice(seeds))
                for _ in range(chance.randrange(1, 6)):
                    at = chance.randrange(len(line) + 1)
                    line[at:at + chance.randrange(8)] = chance.choice([b"", bytes([chance.randrange(256)]), b'"', b"{", b"]", b"\\u0000", line[at:at + 20]])
                client.send_bytes(bytes(line).replace(b"\n", b" ") + b"\n")
            client.send({"jsonrpc": "2.0", "id": "the end", "method": "tools/call", "params": {"_meta": META, "name": "list_findings", "arguments": {"report": "r1"}}})
        sender = threading.Thread(target=send)
        sender.start()
        while client.receive().get("id") != "the end":
            pass
        sender.join()


def closed_pipes(binary, root):
    """A client that stops reading, or vanishes in the middle of work, ends the server; one that only stops sending gets its answers."""
    call = {"name": "open_job", "arguments": {"path": "hung-job"}, "_meta": META}
    for is_reading in (True, False):
        with Client(binary, root) as client:
            client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
            client.process.stdin.close()
            if is_reading:
                assert client.receive()["id"] == 1
            else:
                client.process.stdout.close()
            client.process.wait(30)
    with Client(binary, root) as client:
        client.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')  # without a line end
        client.process.stdin.close()
        assert client.receive()["id"] == 1


def usage(binary, root):
    failed = subprocess.run([binary, "mcp", root / "nothing"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert failed.returncode == 2 and "not a folder" in failed.stderr, failed
    with Client(binary, cwd=root) as client:  # without a folder: the current one
        assert not client.call("open_job", path="hung-job")[0]


TESTS = [tools, sql_is_read_only, resources, lines, opened_report, outside, linked_store, leaves_nothing, versions, errors, ids, silent, cancel, subscription,
         long_message, hostile_bytes, fuzzed, closed_pipes, usage]


def main():
    parser = in_folders.parser(__doc__)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcp.") as name:
        root = make_world(Path(name).resolve())
        tests = [("transcripts", lambda _: transcripts(options.binary, root, options.update)),
                 *((test.__name__, lambda _, test=test: test(options.binary, root)) for test in TESTS)]
        return in_folders.run_all("mcp", tests, options.patterns)


if __name__ == "__main__":
    sys.exit(main())
