#!/usr/bin/env python3
"""Feeds debrief compile hostile logs: each broken or evil entry may cost itself and nothing else.

usage: compile_logs.py [--binary PATH] [PATTERN...]      default: the sanitizer build

A case is a function case_*(lab). In all of them debrief must end with exit code 0 or 1 and no sanitizer report, and write
nothing outside its output folder. A hostile entry stands between two good compilations, whose files must be as they are
without it (their numbers may be others). Text from logs stays text: a page with evil text has the same elements and attributes
as the same page with harmless text.
"""
import html.parser
import json
import os
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402
from as_nobody import for_nobody  # noqa: E402
from in_folders import Skip  # noqa: E402
from torch_trace_writer import CODE, Log, good_log  # noqa: E402

TIMEOUT_S = 60
RSS_LIMIT_MB = 1500
EVIL = '"><script>alert(1)</script><img src=x onerror=alert(1)>\'`</pre></style></title></textarea></script><!--&lt;&#x3c;b'
HARMLESS = "harmless text"
OWN = (9, 9, 0)  # compilation of the hostile entries
ABSOLUTE = "/tmp/debrief-hostile-evil"
OUTSIDE = ["../../evil", "../../../../../../../../tmp/debrief-hostile-evil", ABSOLUTE, "a/../../../evil", "..", ".", "", "/", "a\0b",
           "x" * 5000, "n" * 250, "\u00e9" * 200, "a\nb", "a\\..\\b", "index.html", "~/evil", "-rf", " ", "\u202egpj.exe", "con", "a/b/c"]


@dataclass
class Outcome:
    code: int
    stdout: str
    stderr: str
    out: Path

    def paths(self):
        return sorted(path.relative_to(self.out).as_posix() for path in self.out.rglob("*") if not path.is_dir())

    def files(self):
        return {path: (self.out / path).read_bytes() for path in self.paths()}

    def json(self, path):
        return json.loads((self.out / path).read_bytes())


class Lab:
    """An empty folder to work in, and the command. Two folders deep, so that ../../x lands in what is looked at."""

    def __init__(self, binary, top):
        self.binary, self.top = binary, top
        self.folder = self.top / "a/b"
        self.folder.mkdir(parents=True)
        for path in (self.top, self.folder.parent, self.folder):
            path.chmod(0o777)
        self.runs = 0
        self.outs = set()  # output folders of earlier runs, whose content need not be listed again and again
        self.plain = {}  # flags: the tree of the good log

    def listing(self, without):
        found = []
        for folder, folders, files in os.walk(self.top):
            folders[:] = [name for name in folders if Path(folder, name) != without]
            found += [os.path.join(folder, name) for name in folders + files]
            folders[:] = [name for name in folders if Path(folder, name) not in self.outs]
        return sorted(found)

    def compile(self, content, *flags, code=0, out=None, **popen):
        """Runs debrief compile on a log (bytes) or a folder of them ({name: bytes}); checks what holds for all runs."""
        self.runs += 1
        source = self.folder / f"in{self.runs}"
        logs = content if isinstance(content, dict) else {"log": content}
        source.mkdir()
        for name, data in logs.items():
            (source / name).write_bytes(data)
        out = out or self.folder / f"out{self.runs}"
        words = [source if isinstance(content, dict) else source / "log", "-o", out, "--no-browser", *flags]
        before = self.listing(out)
        done = subprocess.run([self.binary, "compile", *words], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT_S, **popen)
        outcome = Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), out)
        self.check(outcome, code, before)
        return outcome

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", "UBSAN_OPTIONS": "print_stacktrace=1",
                "ASAN_OPTIONS": f"hard_rss_limit_mb={RSS_LIMIT_MB}:external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer"}

    def check(self, outcome, code, before):
        assert "Sanitizer" not in outcome.stderr and "runtime error" not in outcome.stderr, outcome.stderr[-3000:]
        assert outcome.code == code, f"exit code {outcome.code}, must be {code}: {outcome.stderr[-1500:]}"
        after = self.listing(outcome.out)
        self.outs.add(outcome.out)
        assert before == after, f"changed outside the output folder: {sorted(set(before) ^ set(after))}"
        assert not Path(ABSOLUTE).exists() and not list(Path("/tmp").glob("debrief-hostile-evil*")), "an absolute name was written to"
        if code == 0:
            assert not [path for path in outcome.out.rglob("*") if path.is_symlink()], "a link was written"
        else:
            assert not outcome.out.exists(), "a failed run left its folder"


# --- a hostile entry between good ones ---

def good_parts():
    """Two halves of a log, one compilation each."""
    log = good_log()
    middle = len(log.parts)
    log.start((1, 0, 0)).add("aot_joint_graph", {}, "graph():\n    %y = placeholder\n", (1, 0, 0)).event("late", ids=(1, 0, 0))
    log.artifact("fx_graph_cache_hit", {"key": "k", "z": 1, "a": [{}]}, (1, 0, 0)).metrics((1, 0, 0), restart_reasons=["break"])
    return b"".join(log.parts[:middle]), b"".join(log.parts[middle:])


def hostile(**more):
    """A Log for entries of compilation 9/9."""
    return Log(thread=777, **more)


def without_numbers(text):
    return re.sub(rb"_\d+(_readable)?\.(txt|json|html)", rb"_N\1.\2", text)


def good_files(outcome):
    """(path, content) of files of the good compilations, without their numbers; of pages only the path."""
    found = set()
    for path, content in outcome.files().items():
        if re.match(r"-_[01]_0_0/|payloads/|dump_file/", path):
            found.add((without_numbers(path.encode()), b"" if path.endswith(".html") else content))
    return found


def raw_lines(outcome):
    return [without_numbers(line) for line in (outcome.out / "raw.jsonl").read_bytes().splitlines()[1:]]


def is_subsequence(few, many):
    rest = iter(many)
    return all(any(line == other for other in rest) for line in few)


def costs_only_itself(lab, content, *flags):
    """Runs with and without the bytes `content` in the middle; the Outcome with them."""
    first, second = good_parts()
    if flags not in lab.plain:
        lab.plain[flags] = lab.compile(first + second, *flags)
    plain, mixed = lab.plain[flags], lab.compile(first + content + second, *flags)
    lost = good_files(plain) - good_files(mixed)
    assert not lost, f"files of good entries are gone or changed: {sorted(lost)[:3]}"
    if "-e" in flags:
        return mixed
    assert is_subsequence(raw_lines(plain), raw_lines(mixed)), "raw.jsonl has lost or changed good entries"
    assert is_subsequence(plain.json("chromium_events.json"), mixed.json("chromium_events.json")), "chromium events are gone"
    assert (mixed.out / "raw.log").read_bytes() == first + content + second, "raw.log is no copy"
    for line in raw_lines(mixed):
        json.loads(line)
    check_listing(mixed)
    return mixed


def check_listing(outcome):
    """Every listed file is there, inside the tree."""
    links = {"https://example.com/x"}
    for entry in outcome.json("compile_directory.json").values():
        for file in entry["artifacts"]:
            if file["url"] in links or re.match(r"[a-zA-Z]+:", file["url"]):
                continue
            path = (outcome.out / file["url"]).resolve()
            assert outcome.out.resolve() in path.parents and path.is_file(), f"listed, but not there: {file['url']!r}"


# --- names that want out ---

def kinds_with_names(name):
    """Every entry whose name becomes that of a file."""
    return {
        "artifact": hostile().add("artifact", {"name": name, "encoding": "string"}, "evil artifact.", OWN),
        "artifact_json": hostile().add("artifact", {"name": name, "encoding": "json"}, '{"evil artifact_json.": 1}', OWN),
        "graph_dump": hostile().add("graph_dump", {"name": name}, "evil graph_dump.", OWN),
        "ddp": hostile().add("optimize_ddp_split_child", {"name": name}, "evil ddp.", OWN),
        "dump_file": hostile().add("dump_file", {"name": name}, "evil dump_file.", OWN),
        "code": hostile().add("inductor_output_code", {"filename": name + "/" + name + ".py"}, "# evil code.", OWN),
        "payload": hostile().envelope(json.dumps({"nobody_knows": {}, "has_payload": name}), b"evil payload."),
        "stack_traces": hostile().artifact("inductor_provenance_tracking_kernel_stack_traces" + name, {"k": ["evil stack_traces."]}, OWN),
    }


def check_names(lab, name, logs):
    """All the logs in one; {kind: Log with a payload `evil <kind>.`}."""
    try:
        outcome = costs_only_itself(lab, b"".join(log.bytes() for log in logs.values()))
        longest = max(len(part.encode()) for path in outcome.paths() for part in path.split("/"))
        assert longest <= 255, f"a name of {longest} bytes"
        shown = b"".join(content for path, content in outcome.files().items() if not path.startswith("raw."))
        lost = [kind for kind in logs if f"evil {kind}.".encode() not in shown]
        assert not lost, f"the payload is nowhere: {lost}"
        assert (outcome.out / "index.html").stat().st_size > 1000, "index.html was replaced"
    except AssertionError as error:
        raise AssertionError(f"{', '.join(logs)} named {name[:60]!r}: {error}") from error


def case_names_that_want_out(lab):
    for name in OUTSIDE:
        logs = kinds_with_names(name)
        try:
            check_names(lab, name, logs)
        except AssertionError:
            for kind, log in logs.items():  # which of them was it?
                check_names(lab, name, {kind: log})
            raise


def case_same_name_twice(lab):
    """Two payloads of the same name, and one that is called like a page of ours."""
    log = hostile().add("dump_file", {"name": "same"}, "one evil", OWN).add("dump_file", {"name": "same"}, "two evil", OWN)
    outcome = costs_only_itself(lab, log.bytes())
    assert b"two evil" in (outcome.out / "dump_file/same.html").read_bytes()


# --- text that wants to be markup ---

class Shape(html.parser.HTMLParser):
    """Elements and names of attributes, in order; and what may not be there."""

    def __init__(self):
        super().__init__()
        self.elements, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, tuple(name for name, _ in attributes)))
        self.addresses += [value or "" for name, value in attributes if name in ("href", "src", "action", "xlink:href")
                           and value != "data:,"]  # the icon of our pages: none

    def handle_comment(self, text):
        self.elements.append(("comment", ()))


def shape_of(page):
    shape = Shape()
    shape.feed(page.decode())
    shape.close()
    return shape


def pages(outcome):
    """Pages by path without their numbers and without names from the log."""
    found = {}
    for path, content in outcome.files().items():
        if path.endswith(".html"):
            key = re.sub(r"_\d+(_readable)?\.html$", r"\1.html", path)
            key = "dump_file/x.html" if path.startswith("dump_file/") and "eval_with_key" not in path else key
            if "/" in key and not key.startswith(("dump", "rank")):
                key = f"{key.partition('/')[0]}/{len(found)}"
            found.setdefault(key, content)
    return found


def check_shapes(evil, harmless, exact=True):
    left, right = pages(evil), pages(harmless)
    assert set(left) == set(right), f"other pages: {sorted(set(left) ^ set(right))}"
    for path, page in left.items():
        shape, wanted = shape_of(page), shape_of(right[path])
        if exact and shape.elements != wanted.elements:
            at = next((i for i, pair in enumerate(zip(shape.elements, wanted.elements)) if pair[0] != pair[1]),
                      min(len(shape.elements), len(wanted.elements)))
            raise AssertionError(f"{path}: element {at} is {shape.elements[at:at + 2]}, of harmless text {wanted.elements[at:at + 2]}")
        assert {tag for tag, _ in shape.elements} <= {tag for tag, _ in wanted.elements}, f"{path}: new elements"
        known = {name for _, names in wanted.elements for name in names}
        assert not {name for _, names in shape.elements for name in names} - known, f"{path}: new attributes"
        assert sum(tag == "script" for tag, _ in shape.elements) == sum(tag == "script" for tag, _ in wanted.elements), path
        for address in shape.addresses:
            address = re.sub(r"[\x00-\x20]", "", address).lower()
            assert not re.match(r"(javascript|vbscript|data):", address), f"{path}: address {address[:80]}"


STACK = [{"line": 1, "name": "f", "filename": 0, "loc": "f()"}]


def with_text(text):
    """{spot: Log with `text` in that spot}: everything from a log that a page shows."""
    frame = {"line": 3, "name": text, "filename": 50, "loc": text, "uninterned_filename": text}
    metrics = {"co_name": text, "co_filename": text, "fail_type": text, "fail_reason": text, "fail_user_frame_filename": text,
               "fail_user_frame_lineno": 3, "non_compliant_ops": [text], "compliant_custom_ops": [text]}
    spots = {key: hostile().metrics(OWN, **({key: value} if not key.startswith("fail") else
                                                   {"fail_type": "T", "fail_reason": "R", key: value})) for key, value in metrics.items()}
    return spots | {
        "restart": hostile().metrics(OWN, restart_reasons=[text, text]),
        "artifact": hostile().artifact(text, "x", OWN),
        "graph": hostile().add("graph_dump", {"name": text}, "x", OWN),
        "ddp": hostile().add("optimize_ddp_split_child", {"name": text}, "x", OWN).metrics(OWN),
        "dump": hostile().add("dump_file", {"name": text}, "x", OWN),
        "dump_payload": hostile().add("dump_file", {"name": "d"}, f"{text}\n{text}", OWN),
        "link": hostile().add("link", {"name": text, "url": "https://example.com/" + text}, ids=OWN).metrics(OWN),
        "guards": hostile().add("dynamo_guards", {}, json.dumps([{"code": text}]), OWN),
        "frame": hostile().string(text, 50).add("dynamo_start", {"stack": [frame, frame]}, ids=OWN).metrics(OWN),
        "stack": hostile().string(text, 50).add("aot_joint_graph", {}, "x", OWN, stack=[frame]),
        "shape": hostile().add("symbolic_shape_specialization", {"symbol": text, "sources": [text], "value": text, "reason": text,
                                                                 "stack": [frame], "user_stack": [frame]}, ids=OWN).metrics(OWN),
        "guard_fast": hostile().add("guard_added_fast", {"expr": text, "stack": STACK, "user_stack": [frame]}, ids=OWN)
        .metrics(OWN),
        "bwd": hostile().add("bwd_compilation_metrics", {"fail_type": text, "fail_reason": text}, ids=OWN),
        "aot_bwd": hostile().add("aot_autograd_backward_compilation_metrics", {"fail_type": text, "fail_reason": text}, ids=OWN),
        "kernels": hostile().artifact("inductor_provenance_tracking_kernel_stack_traces", {text: [text]}, OWN),
        "unknown": hostile().add(text, {}, "x", OWN),
        "code_file": hostile().add("inductor_output_code", {"filename": text}, "x = 1", OWN).metrics(OWN),
    }


def compare_spots(lab, spots, *flags):
    first, second = good_parts()
    evil, harmless = spots(EVIL), spots(HARMLESS)
    for spot, log in evil.items():
        try:
            check_shapes(lab.compile(first + log.bytes() + second, *flags),
                         lab.compile(first + harmless[spot].bytes() + second, *flags))
        except AssertionError as error:
            raise AssertionError(f"{spot}: {error}") from error


def case_text_is_no_markup(lab):
    compare_spots(lab, with_text)


def case_code_is_no_markup(lab):
    """Generated code is coloured, so elements may differ in number and not in kind."""
    first, second = good_parts()

    def run(text):
        code = f"{CODE}# {text}\nx = '{text}'\ny = 1 {text}\n'''{text}\n"
        log = hostile().add("inductor_output_code", {"filename": "/a/c.py"}, code, OWN)
        return lab.compile(first + log.bytes() + second)
    check_shapes(run(EVIL), run("other text = 'a' # b\n@c\ndef d(): return 1.5 + e"), exact=False)


def case_provenance_is_no_markup(lab):
    def spots(text):
        log = hostile()
        for name in ("before_pre_grad_graph", "after_post_grad_graph"):
            log.artifact(name, f"{text} = 1\nb = 2", OWN)
        log.add("inductor_output_code", {"filename": "/a/c.py"}, CODE + f"# {text}\n", OWN)
        log.artifact("inductor_provenance_tracking_node_mappings",
                     {"preToPost": {text: [text]}, "postToPre": {text: [text]}, "cppCodeToPost": {text: ["b"]},
                      "postToCppCode": {"b": [text]}}, OWN)
        return {"provenance": log}
    compare_spots(lab, spots, "-i", "-p")


def case_export_is_no_markup(lab):
    def spots(text):
        frame = {"line": 3, "name": text, "filename": 50, "loc": text}
        shown = {"expr": text, "result": text, "expr_node_id": 7, "prefix": "eval", "user_stack": [frame], "stack": [frame],
                 "symbol_to_sources": {text: text}, "frame_locals": {"locals": {text: text}, "symbols": {text: text}}}
        node = {"method": text, "result": text, "result_id": 7, "arguments": [text], "argument_ids": [8],
                "user_stack": [frame], "stack": [frame]}
        return {
            "guard": hostile().string(text, 50).add("expression_created", node, ids=None).add("guard_added", shown, ids=None),
            "data": hostile().add("create_unbacked_symbol", {"symbol": text, "node_id": 7, "vr": text, "user_stack": [frame]}, ids=None)
            .add("propagate_real_tensors_provenance", shown, ids=None),
            "missing": hostile().add("missing_fake_kernel", {"op": text, "reason": text}, ids=None),
            "mismatched": hostile().add("mismatched_fake_kernel", {"op": text, "reason": text}, ids=None),
        }
    compare_spots(lab, spots, "-e")


def case_addresses(lab):
    """A link may lead to the web and nowhere else."""
    first, second = good_parts()
    for url in ("javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "\x01javascript:alert(1)",
                "data:text/html,<script>alert(1)</script>", "vbscript:x", "javascript&colon;alert(1)", "", "//evil", "../../up"):
        log = hostile().add("link", {"name": "evil link", "url": url}, ids=OWN).metrics(OWN)
        outcome = lab.compile(first + log.bytes() + second)
        for path, page in pages(outcome).items():
            for address in shape_of(page).addresses:
                bare = re.sub(r"[\x00-\x20]", "", address).lower()
                assert not re.match(r"(javascript|vbscript|data):", bare), f"{url!r} in {path}: {address!r}"
        assert b"evil link" in (outcome.out / "index.html").read_bytes(), "the link is not even named"


def case_ranks_are_no_markup(lab):
    """The landing page of several ranks: names of operations, of graphs and of what ran."""
    def logs(text):
        found = {}
        for rank in range(2):
            log = Log(rank).artifact("inductor_collective_schedule", [text, f"{text}{rank}"])
            op = {"name": text, "estimated_runtime_ns": 5.0 + rank, "type": text}
            log.artifact("inductor_runtime_and_tensor_meta", {"ops": [op]})
            log.artifact("graph_execution", {"graph_execution_order": [text + str(rank), {"compile_id": text}]}, None)
            found[f"dedicated_log_torch_trace_rank_{rank}_{'evil' if text == EVIL else 'x'}.log"] = log.bytes()
        return found
    check_shapes(lab.compile(logs(EVIL), "--all-ranks-html"), lab.compile(logs(HARMLESS), "--all-ranks-html"))


# --- entries that are broken ---

def deep(levels):
    return '{"nobody_knows": ' + "[" * levels + "]" * levels + ', "frame_id": 9}'


BROKEN = {
    "utf8_in_header": hostile().envelope(b'{"artifact": {"name": "a\xff", "encoding": "string"}, "frame_id": 9}'),
    "utf8_in_payload": hostile().add("aot_joint_graph", {}, b"a\xffb\xc3\n\xed\xa0\x80", OWN),
    "utf8_in_json_artifact": hostile().add("artifact", {"name": "a", "encoding": "json"}, b'{"a": "\xff"}', OWN),
    "utf8_in_event": hostile().add("chromium_event", {}, b'{"name": "\xff", "ph": "B"}', OWN),
    "utf8_in_string_table": hostile().envelope(b'{"str": ["a\xff", 70]}'),
    "utf8_in_code": hostile().add("inductor_output_code", {"filename": "/a.py"}, b"x = '\xff'\n", OWN),
    "nul": hostile().envelope(b'{"artifact": {"name": "a\x00", "encoding": "string"}}').raw(b"\x00\x00\n"),
    "nul_in_payload": hostile().add("aot_joint_graph", {}, b"a\x00b", OWN),
    "nan_in_envelope": hostile().envelope('{"compilation_metrics": {"start_time": NaN}, "frame_id": 9, "frame_compile_id": 9}'),
    "infinity": hostile().envelope('{"bwd_compilation_metrics": {"code_gen_time_s": Infinity}, "frame_id": 9}'),
    "nan_in_artifact": hostile().add("artifact", {"name": "a", "encoding": "json"}, '{"a": NaN}', OWN),
    "nan_in_event": hostile().add("chromium_event", {}, '{"name": "x", "ts": NaN}', OWN),
    "huge_number": hostile().add("artifact", {"name": "a", "encoding": "json"}, '{"a": 1e999, "b": %s, "c": -1e-999}' % ("9" * 5000), OWN),
    "missing_name": hostile().add("artifact", {"encoding": "string"}, "x", OWN),
    "missing_encoding": hostile().add("artifact", {"name": "a"}, "x", OWN),
    "missing_fields": hostile().add("describe_tensor", {"id": 1}, ids=OWN).add("describe_storage", {}, ids=OWN)
    .add("link", {}, ids=OWN),
    "no_fail_reason": hostile().metrics(OWN, fail_type="E"),
    "duplicate_key": hostile().envelope('{"artifact": {"name": "a", "encoding": "string"}, '
                                        '"artifact": {"name": "b", "encoding": "string"}, "frame_id": 9}'),
    "duplicate_unknown_key": hostile().envelope('{"nobody_knows": 1, "nobody_knows": 2, "frame_id": 9}'),
    "lone_surrogate": hostile().envelope('{"artifact": {"name": "\\ud800", "encoding": "string"}}'),
    "deep_100": hostile().envelope(deep(100)),
    "deep_130": hostile().envelope(deep(130)),
    "deep_100000": hostile().envelope(deep(100_000)),
    "deep_artifact": hostile().add("artifact", {"name": "a", "encoding": "json"}, "[" * 100_000 + "]" * 100_000, OWN),
    "deep_event": hostile().add("chromium_event", {}, '{"a":' * 50_000 + "1" + "}" * 50_000, OWN),
    "deep_guards": hostile().add("dynamo_guards", {}, "[" * 50_000, OWN),
    "no_object": hostile().envelope("[1, 2]").envelope('"text"').envelope("3").envelope("null").envelope("{"),
    "empty_object": hostile().envelope("{}"),
    "huge_index": hostile().string("far away", 4_000_000_000),
    "index_too_large": hostile().string("farther", 2 ** 33).string("below", -1),
    "many_far_indexes": hostile().raw(b"".join(hostile().string("x", 4_000_000_000 - i).bytes() for i in range(50))),
    "broken_strings": hostile().envelope('{"str": []}').envelope('{"str": ["a"]}').envelope('{"str": 3}').envelope('{"str": [3, "a"]}'),
    "huge_thread": hostile().raw(b'V1115 02:33:12.159000 99999999999999999999999999 torch/a.py:1] {"aot_joint_graph": {}, "frame_id": 9}\n'),
    "huge_line": hostile().raw(b'V1115 02:33:12.159000 1 torch/a.py:99999999999999999999999999] {"aot_joint_graph": {}, "frame_id": 9}\n'),
    "no_such_date": hostile().raw(b'V9999 99:99:99.999999 1 torch/a.py:1] {"aot_joint_graph": {}, "frame_id": 9}\n'),
    "no_prefix": hostile().raw(b"no prefix\n\tno payload\nV1115 02:33:12.159 1 torch/a.py:1] {}\n"),
    "prefix_only": hostile().raw(b"V1115 02:33:12.159000 1 torch/a.py:1] \nV1115 02:33:12.159000 1 torch/a.py:1]\n"),
    "wrong_checksum": hostile().envelope('{"aot_joint_graph": {}, "frame_id": 9, "has_payload": "%s"}' % ("0" * 32), b"a\n\nb"),
    "no_payload_behind": hostile().envelope('{"aot_joint_graph": {}, "frame_id": 9, "has_payload": "%s"}' % ("0" * 32)),
    "payload_nobody_wants": hostile().envelope('{"aot_joint_graph": {}, "frame_id": 9}', b"a\nb"),
    "unknown_encoding": hostile().add("artifact", {"name": "a", "encoding": "zip"}, "x", OWN),
    "bad_guards": hostile().add("dynamo_guards", {}, "no json", OWN).add("dynamo_guards", {}, '[{"code": 3}]', OWN),
    "bad_kernels": hostile().artifact("inductor_provenance_tracking_kernel_stack_traces", [1], OWN),
    "far_frame": hostile().add("dynamo_start", {"stack": [{"line": -5, "name": "f", "filename": 4_000_000_000}]}, ids=OWN),
    "key_conflict": hostile().add("aot_joint_graph", {}, "x", OWN, timestamp=1, thread=2),
    "long_line": hostile().add("nobody_knows", {"a": "x" * 3_000_000}, ids=OWN),
    "many_keys": hostile().envelope("{" + ", ".join(f'"k{i}": {i}' for i in range(5000)) + "}"),
}
WRONG_TYPES = ['"frame_id": "9"', '"frame_id": -1', '"frame_id": 1.5', '"frame_id": 4294967296', '"attempt": []', '"rank": "a"', '"rank": -1',
               '"rank": 1e3', '"has_payload": 5', '"has_payload": {}', '"stack": {}', '"stack": [3]', '"artifact": 3', '"artifact": null',
               '"artifact": {"name": 3, "encoding": "string"}', '"graph_dump": []', '"compilation_metrics": 3', '"link": "x"',
               '"compilation_metrics": {"co_name": 3}', '"compilation_metrics": {"restart_reasons": "x"}', '"dynamo_start": {"stack": 3}',
               '"compilation_metrics": {"graph_op_count": -1}', '"compilation_metrics": {"start_time": "x"}', '"dynamo_output_graph": []',
               '"inductor_output_code": {"filename": 3}', '"describe_tensor": {"id": "x"}', '"symbolic_shape_specialization": {"sources": 3}',
               '"guard_added_fast": {"expr": []}', '"dump_file": {"name": null}', '"chromium_event": 3', '"str": null']


def check_broken(lab, name, log, *flags):
    try:
        outcome = costs_only_itself(lab, log.bytes(), *flags)
    except (AssertionError, UnicodeDecodeError, ValueError) as error:
        raise AssertionError(f"{name} {' '.join(flags)}: {type(error).__name__} {error}") from error
    if "-e" not in flags:
        first_line = (outcome.out / "raw.jsonl").read_bytes().partition(b"\n")[0]
        assert len(first_line) < 1 << 20, f"{name}: the string table is {len(first_line)} bytes of text"
    return outcome


def case_broken_entries(lab):
    for name, log in BROKEN.items():
        check_broken(lab, name, log)


def case_broken_entries_with_provenance(lab):
    for name, log in BROKEN.items():
        check_broken(lab, name, log, "-i", "-p")


def case_wrong_types(lab):
    for text in WRONG_TYPES:
        check_broken(lab, text, hostile().envelope("{%s, \"compiled_autograd_id\": 9}" % text))


def case_broken_payload_of_refused_entry(lab):
    """The lines behind an entry that was refused are no entries, even when they look like one."""
    inner = hostile().add("graph_dump", {"name": "inner"}, ids=OWN).bytes()[:-1]
    log = hostile().envelope('{"artifact": 3, "has_payload": "%s"}' % ("0" * 32), inner)
    outcome = costs_only_itself(lab, log.bytes())
    assert not [path for path in outcome.paths() if "inner" in path], "a line of a payload was taken for an entry"


def case_invalid_bytes_are_kept(lab):
    """Payloads are bytes: what is no text is written as it came."""
    payload = b"a\xffb\xc3\n\xed\xa0\x80"
    outcome = costs_only_itself(lab, hostile().add("aot_joint_graph", {}, payload, OWN).bytes())
    assert payload in [content for path, content in outcome.files().items() if path.startswith("-_9_9_0/aot_joint")]


def case_export_with_missing_fields(lab):
    log = hostile()
    for kind in ("guard_added", "propagate_real_tensors_provenance", "create_unbacked_symbol", "expression_created",
                 "missing_fake_kernel", "mismatched_fake_kernel"):
        for fields in ({}, {"prefix": "eval"}, {"expr": "a", "prefix": "eval"}, {"result_id": 1, "argument_ids": [1]},
                       {"node_id": 1}, {"expr_node_id": 1, "prefix": "eval", "expr": "a", "result": "b"}, {"op": "x"}):
            log.add(kind, fields, ids=None)
    outcome = lab.compile(good_parts()[0] + log.bytes(), "-e")
    assert (outcome.out / "index.html").is_file()


def case_expressions_in_a_circle(lab):
    """Export mode follows arguments: each node once, however they are tied together, however deep."""
    log = hostile()
    for node in range(3000):
        log.add("expression_created", {"method": "m", "result": f"e{node}", "result_id": node, "arguments": ["a"],
                                       "argument_ids": [(node + 1) % 3000, node]}, ids=None)
    log.add("guard_added", {"expr": "e0", "result": "True", "expr_node_id": 0, "prefix": "eval"}, ids=None)
    outcome = lab.compile(log.bytes(), "-e")
    page = next(content for path, content in outcome.files().items() if "symbolic_guard_information" in path)
    assert page.count(b"e2999") <= 5, "a node is shown again and again"


def case_empty(lab):
    for content in (b"", b"\n", b"\n\n\r\n", b"\t\n", b"\xff\xfe", b"\0", b"{}", b"V"):
        outcome = lab.compile(content)
        assert {"index.html", "raw.log", "raw.jsonl", "compile_directory.json", "chromium_events.json",
                "failures_and_restarts.html"} <= set(outcome.paths()), content
        assert (outcome.out / "raw.log").read_bytes() == content
        assert outcome.json("compile_directory.json") == {}, "nothing was compiled"


def case_line_ends(lab):
    content = b"".join(good_parts())
    plain = lab.compile(content).files()
    for changed in (content.replace(b"\n", b"\r\n"), content.removesuffix(b"\n"), content.replace(b"\n", b"\n\n"),
                    content + b"\n\n"):
        files = lab.compile(changed, "--strict").files()
        differ = [path for path in plain if plain[path] != files.get(path) and path != "raw.log"]
        assert set(files) == set(plain) and not differ, f"{differ}"


def case_cut_anywhere(lab):
    """A small log that ends after any byte: always a tree, with the files of all entries before the end."""
    log = Log(thread=7).string("a.py", 0).start(frames=1).add("aot_joint_graph", {}, "x\n\ny").artifact("j", {"b": 1, "a": "\u00e9"})
    log.add("dynamo_guards", {}, '[{"code": "c"}]').metrics()
    content, ends, offset = log.bytes(), [], 0
    for part in log.parts:
        offset += len(part)
        ends.append(offset)
    files = {path: data for path, data in lab.compile(content).files().items() if re.match(r"-_0_0_0/.*_(0|1)\.(txt|json)", path)}
    # Parts: string, start, graph header, its payload, artifact header, its payload, ...
    complete = {path: ends[3] if "aot_joint" in path else ends[5] for path in files}
    assert len(files) == 2, files.keys()

    def check(cut, tree):
        for path, end in complete.items():
            if cut >= end - 1:
                assert (tree / path).read_bytes() == files[path], f"cut at {cut}: {path}"
        assert (tree / "index.html").is_file(), f"cut at {cut}: no page"
        assert (tree / "raw.log").read_bytes() == content[:cut], f"cut at {cut}: raw.log is no copy"

    # A start takes longer than a log, so a hundred of them are ranks of one run; some run alone.
    for cut in range(0, len(content), 50):
        check(cut, lab.compile(content[:cut]).out)
    for first in range(0, len(content), 100):
        cuts = range(first, min(first + 100, len(content)))
        logs = {f"dedicated_log_torch_trace_rank_{cut}.log": content[:cut] for cut in cuts}
        outcome = lab.compile(logs, "--all-ranks-html")
        for cut in cuts:
            check(cut, outcome.out / f"rank_{cut}")


def case_messy_ranks(lab):
    """A rank with broken artifacts, an empty one, one of noise, one whose entries name other ranks, one that was started
    twice: the others and the landing page are there."""
    bad = Log(1).artifact("inductor_runtime_and_tensor_meta", {"ops": [{"name": "x", "estimated_runtime_ns": float("nan")}]})
    bad.artifact("inductor_collective_schedule", {"not": "a list"}).artifact("graph_execution", {"graph_execution_order": 3}, None)
    bad.artifact("inductor_runtime_and_tensor_meta", {"ops": [{"name": 3}, 5, {"name": "a", "estimated_runtime_ns": -1e300}]}, (1, 0, 0))
    logs = {0: good_log(0).bytes(), 1: bad.bytes(), 2: b"", 3: bytes(range(256)) * 40, 4000000: good_log(4000000).bytes(),
            5: good_log(0).bytes() + good_log(7).bytes(), 6: good_log(6).bytes() * 2}
    for flags in ([], ["-p"], ["-i"], ["--jobs", "2"]):
        named = {f"dedicated_log_torch_trace_rank_{rank}.log": log for rank, log in logs.items()}
        outcome = lab.compile(named, "--all-ranks-html", *flags)
        page = (outcome.out / "index.html").read_text()
        for rank in logs:
            assert (outcome.out / f"rank_{rank}/index.html").is_file() and f"rank_{rank}/index.html" in page, f"rank {rank}"


def case_rank_beyond_numbers(lab):
    """A rank that no job has may be left out, with a word about it; the other ranks are there."""
    for rank in (2 ** 31, 2 ** 32 - 1):
        logs = {f"dedicated_log_torch_trace_rank_{number}.log": good_log(number).bytes() for number in (0, 1, rank)}
        outcome = lab.compile(logs, "--all-ranks-html")
        assert (outcome.out / "rank_0/index.html").is_file() and (outcome.out / "rank_1/index.html").is_file()
        assert (outcome.out / f"rank_{rank}/index.html").is_file() or str(rank) in outcome.stderr, "left out without a word"


# --- runs that fail leave nothing half done ---

def big_log():
    return good_log().add("aot_joint_graph", {}, "x" * 400_000, OWN).bytes()


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def case_disk_full(lab):
    """A file that cannot be written whole. Python ignores SIGXFSZ, and restore_signals=False hands that on."""
    outcome = lab.compile(big_log(), code=1, preexec_fn=limit_file_size, restore_signals=False)
    assert outcome.stderr.strip(), "no word about it"
    kept = lab.folder / "kept"
    lab.compile(good_log().bytes(), out=kept)
    before = {path: (kept / path).read_bytes() for path in os.listdir(kept) if (kept / path).is_file()}
    words = [lab.folder / "in1/log", "-o", kept, "--overwrite", "--no-browser"]
    done = subprocess.run([lab.binary, "compile", *words], env=lab.environment(),
                          preexec_fn=limit_file_size, restore_signals=False, capture_output=True, cwd=lab.folder)
    assert done.returncode == 1, done.returncode
    after = {path: (kept / path).read_bytes() for path in os.listdir(kept) if (kept / path).is_file()} if kept.exists() else {}
    assert after in ({}, before), "half of the new tree is mixed with the old one"


def case_tiny_disk(lab):
    disk = lab.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True).returncode != 0:
        raise Skip("no small disk can be mounted here")
    try:
        lab.compile(big_log(), code=1, out=disk / "out")
        assert not list(disk.iterdir()), f"left on the disk: {[path.name for path in disk.iterdir()]}"
    finally:
        subprocess.run(["umount", disk], check=True)


def case_refused(lab):
    lab.compile(good_log().raw(b"no prefix\n").bytes(), "--strict", code=1)
    lab.compile(good_log().envelope('{"aot_joint_graph": {}, "frame_id": -1}').bytes(), "--strict-compile-id", code=1)
    assert not [path for path in lab.folder.iterdir() if not path.name.startswith("in")], "something is left beside the output folder"


def case_folder_cannot_be_made(lab):
    (lab.folder / "file").write_text("x")
    for out in (lab.folder / "file/out", lab.folder / ("x" * 300), Path("/proc/out")):
        source = lab.folder / "log"
        source.write_bytes(good_log().bytes())
        done = subprocess.run([lab.binary, "compile", source, "-o", out, "--no-browser"], env=lab.environment(),
                              capture_output=True, cwd=lab.folder)
        assert done.returncode == 1 and done.stderr.strip() and b"Sanitizer" not in done.stderr, f"{out}: {done}"


def case_folder_not_writable(lab):
    locked = lab.folder / "locked"
    locked.mkdir(mode=0o555)
    lab.binary, preexec_fn = for_nobody(lab.binary, lab.folder / "bin")
    lab.compile(good_log().bytes(), code=1, out=locked / "out", preexec_fn=preexec_fn)


def main():
    options = in_folders.parser(__doc__, "build/fuzz/debrief").parse_args()
    tests = [(name, lambda top, case=case: case(Lab(options.binary, top))) for name, case in in_folders.named("case_", globals())]
    return in_folders.run_all("hostile.compile", tests, options.patterns)


if __name__ == "__main__":
    sys.exit(main())
