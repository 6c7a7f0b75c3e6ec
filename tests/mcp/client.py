"""A client of `debrief mcp`, written to the specification of the Model Context Protocol (stdio: one JSON object a line)."""
import json
import select
import subprocess

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"}}
DEADLINE_S = 60


class Client:
    """`debrief mcp ROOT...` while the block lasts."""

    def __init__(self, binary, *roots, cwd=None):
        self.command = [str(binary), "mcp", *map(str, roots)]
        self.cwd = cwd
        self.next_id = 0

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0)
        self.buffer = b""
        return self

    def __exit__(self, *_):
        for stream in (self.process.stdin, self.process.stdout):
            if not stream.closed:
                stream.close()
        self.process.wait(DEADLINE_S)
        self.errors = self.process.stderr.read()
        self.process.stderr.close()

    def send_bytes(self, data):
        self.process.stdin.write(data)

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def line(self, deadline=DEADLINE_S):
        """The next line; None when there is none within the deadline, b"" at the end of the stream."""
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], deadline)[0]:
                return None
            piece = self.process.stdout.read(1 << 16)
            if not piece:
                return self.buffer
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def receive(self):
        line = self.line()
        assert line, "no answer"
        return check_message(json.loads(line))

    def request(self, method, params=None, modern=True):
        """One request and its answer."""
        self.next_id += 1
        params = dict(params or {})
        if modern:
            params["_meta"] = META
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.next_id, answer
        if modern and "result" in answer:
            check_modern(method, answer["result"])
        return answer

    def call(self, tool, modern=True, **arguments):
        """(is_error, what the tool gave: an object, or the text of the error)"""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments}, modern)
        assert "result" in answer, answer
        result = answer["result"]
        (content,) = result["content"]
        assert content["type"] == "text"
        if result["isError"]:
            return True, content["text"]
        assert json.loads(content["text"]) == result["structuredContent"]
        return False, result["structuredContent"]

    def initialize(self):
        answer = self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                             "clientInfo": {"name": "tests", "version": "1"}}, modern=False)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer


def check_message(message):
    """What every message of a server must be."""
    assert message["jsonrpc"] == "2.0", message
    if "method" in message:
        assert "id" not in message and message["method"].startswith("notifications/"), message
        return message
    assert ("result" in message) != ("error" in message), message
    if "result" in message:
        assert isinstance(message["id"], (str, int, float)) and not isinstance(message["id"], bool), message
        assert isinstance(message["result"], dict), message
    else:
        assert isinstance(message["error"]["code"], int) and isinstance(message["error"]["message"], str), message
        assert message.get("id", 0) is not None, message
    return message


CACHEABLE = {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"}


def check_modern(method, result):
    """What 2026-07-28 wants of a result."""
    assert result["resultType"] == "complete", result
    server = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert server["name"] == "debrief" and server["version"], result
    if method in CACHEABLE:
        assert isinstance(result["ttlMs"], int) and result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
