"""Writes small TORCH_TRACE logs for tests: entries with right checksums, and whatever else a test wants in between."""
import hashlib
import json

CODE = """# AOT ID: ['0_inference']
import torch
def call(args):
    buf0 = torch.ops._c10d_functional.all_reduce.default(args[0], 'sum', '0')
    buf1 = torch.ops._c10d_functional.wait_tensor.default(buf0)
    return (buf1,)
"""


class Log:
    """Collects entries; bytes() is the file."""

    def __init__(self, rank=None, thread=4242):
        self.rank, self.thread, self.parts, self.count = rank, thread, [], 0

    def prefix(self):
        self.count += 1
        micros = self.count * 1000
        return f"V1115 02:33:{micros // 1_000_000 % 60:02}.{micros % 1_000_000:06} {self.thread} torch/_logging/a.py:{self.count}] "

    def raw(self, data):
        """Bytes as they are."""
        self.parts.append(data)
        return self

    def envelope(self, text, payload=None):
        """An entry whose JSON is `text`, str or bytes; the payload without a checksum of its own."""
        self.raw(self.prefix().encode() + (text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")) + b"\n")
        return self if payload is None else self.raw(b"".join(b"\t" + line + b"\n" for line in payload.split(b"\n")))

    def add(self, kind, metadata=None, payload=None, ids=(0, 0, 0), **more):
        """An entry of one kind; `ids` are frame_id, frame_compile_id and attempt, or None; `more` goes into the envelope."""
        entry = {kind: {} if metadata is None else metadata}
        if self.rank is not None:
            entry["rank"] = self.rank
        if ids is not None:
            entry |= dict(zip(("frame_id", "frame_compile_id", "attempt"), ids))
        if isinstance(payload, str):
            payload = payload.encode()
        if payload is not None:
            entry["has_payload"] = hashlib.md5(payload).hexdigest()
        return self.envelope(json.dumps(entry | more), payload)

    def artifact(self, name, value, ids=(0, 0, 0), **more):
        """A JSON artifact, or one of text when `value` is a str."""
        text = isinstance(value, str)
        return self.add("artifact", {"name": name, "encoding": "string" if text else "json"},
                        value if text else json.dumps(value), ids, **more)

    def string(self, text, index):
        return self.envelope(json.dumps({"str": [text, index]}))

    def event(self, name, phase="B", ids=(0, 0, 0), **fields):
        event = {"name": name, "ts": 1794709992158846.8 + self.count, "args": {"compile_id": "0/0"}, "ph": phase,
                 "cat": "dynamo_timed", "tid": 0, "pid": 0}
        return self.add("chromium_event", {}, json.dumps(event | fields, indent=0), ids)

    def start(self, ids=(0, 0, 0), frames=2):
        stack = [{"line": 10 + depth, "name": f"f{depth}", "filename": depth % 2, "loc": f"f{depth + 1}()"} for depth in range(frames)]
        return self.add("dynamo_start", {"stack": stack}, ids=ids)

    def metrics(self, ids=(0, 0, 0), **fields):
        usual = {"co_name": "f", "co_filename": "train.py", "co_firstlineno": 7, "cache_size": 0, "accumulated_cache_size": 0,
                 "guard_count": 3, "graph_op_count": 5, "graph_node_count": 8, "graph_input_count": 2, "start_time": 1794709992.5,
                 "entire_frame_compile_time_s": 1.25, "backend_compile_time_s": 0.5, "restart_reasons": []}
        return self.add("compilation_metrics", usual | fields, ids=ids)

    def bytes(self):
        return b"".join(self.parts)


def good_log(rank=None, thread=4242):
    """One compilation with something of most kinds."""
    log = Log(rank, thread)
    log.string("/home/user/train.py", 0).string("/home/user/model.py", 1)
    log.start().event("dynamo")
    log.add("dynamo_output_graph", {"sizes": {"x": [2, 3]}}, "class GraphModule:\n    def forward(self, x):\n        return x\n")
    log.add("aot_forward_graph", {}, "graph():\n    %x = placeholder\n")
    log.add("inductor_post_grad_graph", {}, "def forward(self, arg0_1):\n    mm: f32 = arg0_1\n    return (mm,)\n")
    log.add("inductor_output_code", {"filename": "/tmp/torchinductor/ab/cabc.py"}, CODE)
    log.artifact("fx_graph_cache_miss", {"key": "fabc", "b": [1, 2.5, None], "a": True})
    log.artifact("torch._functorch.config", "debug = False")
    log.add("graph_dump", {"name": "inductor_aot_wrapper_code"}, "int run_impl();\n")
    log.add("dynamo_guards", {}, json.dumps([{"code": "x.size(0) == 2"}]))
    log.add("dynamo_cpp_guards_str", {}, "TREE_GUARD_MANAGER:\n+- RootGuardManager\n")
    log.add("link", {"name": "manifold", "url": "https://example.com/x"})
    log.add("dump_file", {"name": "<eval_with_key>.3"}, "def forward(self, x):\n    return x\n")
    log.event("dynamo", "E")
    return log.metrics()
