"""A trace with bytes that are no text: places behind them are those of the file, and the first of them is named."""
from pathlib import Path

GOOD = '{"ph": "X", "name": "step %d", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": %d, "dur": 5}'
events = [(GOOD % (number, number * 10)).encode() for number in range(12)]
events[4] = events[4].replace(b"step", b"\xff\xfe\xc3")
events[6] = b'{"ph": "X", "name": "no time \xe2\x82", "cat": "cpu_op", "pid": 1, "tid": 1, "dur": 5}'
events[8] = events[8].replace(b"step", b"a\x01b")
events[9] = b'{"ph": "?", "name": "no phase", "pid": 1, "tid": 1, "ts": 95}'
Path("input").mkdir()
Path("input/rank0.json").write_bytes(b'{"schemaVersion": 1, "traceEvents": [\n' + b",\n".join(events) + b"\n]}\n")
