"""A server of a report for tests, and a client that sends exactly the bytes it is told to."""
import json
import signal
import socket
import subprocess
import urllib.parse


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}

    def json(self):
        return json.loads(self.body)


class Served:
    """`debrief serve FOLDER` while the block lasts."""

    def __init__(self, binary, folder, *options):
        self.command = [str(binary), "serve", str(folder), "--quiet", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.stderr.read()
        _, _, self.host, self.token, _ = self.address.split("/")
        self.port = int(self.host.split(":")[1])
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def send(self, raw):
        """Sends bytes and reads until the server closes."""
        with self.connect() as connection:
            connection.sendall(raw)
            pieces = []
            while piece := connection.recv(1 << 16):
                pieces.append(piece)
        return Answer(b"".join(pieces))

    def request(self, path, method="GET", host=None, headers=()):
        """`path` stands after the token; a leading / replaces token and all."""
        target = path if path.startswith("/") else f"/{self.token}/{path}"
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host if host is None else host}", "Connection: close", *headers]
        return self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def sql(self, sql, **options):
        return self.request("api/query?" + urllib.parse.urlencode({"sql": sql, **options}))
