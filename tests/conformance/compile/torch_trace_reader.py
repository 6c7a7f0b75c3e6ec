"""An independent, plain reading of TORCH_TRACE logs, to hold debrief's tables against.

One entry is a glog line with a JSON object, followed by the lines of its payload, each behind a tab:

  V1115 02:33:12.159000 425 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "has_payload": "<md5>"}
  <TAB>first line of the payload
"""
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field

PREFIX = re.compile(rb"[VIWEC]\d\d\d\d \d\d:\d\d:\d\d.\d{6} \d+[^:]+:\d+\] ")
ENVELOPE = {"rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "has_payload", "stack"}


@dataclass
class Entry:
    line: int                      # of the log, from 1
    offset: int                    # byte at which that line begins
    envelope: dict
    lines: list = field(default_factory=list)  # as they lie in the log: the entry and its payload

    @property
    def kinds(self):
        return [key for key in self.envelope if key not in ENVELOPE] or [None]

    @property
    def has_payload(self):
        return self.envelope.get("has_payload") is not None

    @property
    def payload(self):
        return b"\n".join(line[1:] for line in self.lines[1:])

    @property
    def payload_ok(self):
        return self.has_payload and hashlib.md5(self.payload).hexdigest() == self.envelope["has_payload"]

    @property
    def compile_id(self):
        autograd, frame, compilation, attempt = (self.envelope.get(key) for key in
                                                 ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt"))
        shown = "" if autograd is None else f"!{autograd}/"
        shown += f"{'-' if frame is None else frame}/{'-' if compilation is None else compilation}"
        return shown + (f"_{attempt}" if attempt else "")


def read_log(content):
    """(entries, string table {index: text}, lines that are neither entry nor payload)."""
    entries, strings, strays, current, offset = [], {}, 0, None, 0
    for number, line in enumerate(content.split(b"\n"), 1):
        begin, offset = offset, offset + len(line) + 1
        if not line:
            continue
        if line.startswith(b"\t") and current is not None and current.has_payload:
            current.lines.append(line)
            continue
        match = PREFIX.search(line)
        if match is None:
            strays, current = strays + 1, None
            continue
        envelope = json.loads(line[match.end():])
        if "str" in envelope:
            strings[envelope["str"][1]], current = envelope["str"][0], None
            continue
        current = Entry(number, begin, envelope, [line])
        entries.append(current)
    return entries, strings, strays


def count_kinds(entries):
    """How many entries of each (compile id, kind)."""
    return Counter((entry.compile_id, kind) for entry in entries for kind in entry.kinds)
