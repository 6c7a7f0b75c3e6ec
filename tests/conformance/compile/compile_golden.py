"""What tlparse 0.4.3 wrote for its own test inputs, and how a tree of ours is compared with it.

A golden (public/tlparse/expected/<case>) has a list of all paths, FILES, and every file but the pages. Files are compared
byte for byte. What differs from run to run or from machine to machine of tlparse itself is brought into one form first:

* the year in the timestamps of raw.jsonl (glog lines have none; tlparse takes today's);
* the order of the graphs of a rank (that of the directory) in runtime_estimations.json, collective_schedules.json and
  collectives_parity.json and so of the events of chromium_trace_with_runtime.json, and there the number and the order of
  thread metadata (hash order).

tlparse carries the string table of one rank over into the next, so of the raw.jsonl of a rank of several the first line is
taken from the golden of that rank's log alone.
"""
import itertools
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

FLAGS = {
    "": [],
    "plain": ["-p"],
    "strict": ["--strict"],
    "prov": ["-i"],
    "prov_plain": ["-i", "-p"],
    "export": ["-e"],
    "export_strict": ["-e", "--strict"],
    "header": ["--custom-header-html", "<b id='mine'>a &amp; b</b>"],
    "verbose": ["-v"],
    "strict_compile_id": ["--strict-compile-id"],
    "allranks": ["--all-ranks-html"],
    "allranks_plain": ["--all-ranks-html", "-p"],
}
REFUSED = {"export__strict", "export_guard_added__strict", "simple_corrupted_json__strict",
           "inductor_provenance_extended_log__strict"}  # payloads with a wrong checksum
RANK_LOG = re.compile(r"dedicated_log_torch_trace_rank_(\d+)(_.*)?\.log")


@dataclass
class Case:
    name: str
    input: Path        # None when the data has no such input
    flags: list
    expected: Path

    @property
    def refused(self):
        return self.name in REFUSED


def find_input(inputs, base):
    return next((path for path in (inputs / f"{base}.log", inputs / f"{base}.txt", inputs / base) if path.exists()), None)


def find_cases(data):
    """Every golden as a Case: <log>, <log>__<flags>, <folder>__<flags> or <folder>__<log>."""
    inputs = data / "public/tlparse/inputs"
    for expected in sorted((data / "public/tlparse/expected").iterdir()):
        base, _, suffix = expected.name.partition("__")
        if suffix in FLAGS:
            yield Case(expected.name, find_input(inputs, base), FLAGS[suffix], expected)
        else:
            yield Case(expected.name, find_input(inputs / base, suffix), [], expected)


def paths_of(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def expected_paths(expected):
    return sorted(line.removeprefix("./") for line in (expected / "FILES").read_text().splitlines() if line)


# --- bringing a file into one form ---

def split_array(text, indent):
    """(what is before the elements, the elements, what is after them) of an array of objects in pretty JSON."""
    pattern = re.compile(rf"^ {{{indent}}}\{{\n.*?^ {{{indent}}}\}}", re.M | re.S)
    found = list(pattern.finditer(text))
    if not found:
        return text, [], ""
    return text[:found[0].start()], [match[0] for match in found], text[found[-1].end():]


def join_array(before, elements, after):
    return before + ",\n".join(elements) + after


def reorder(text, indent, group, order):
    """Sorts by `order` within runs of elements of the same `group`; the separators must be as JSON writers make them."""
    before, elements, after = split_array(text, indent)
    if join_array(before, elements, after) != text:
        return text  # not of the form that is looked for: compare it as it is
    parsed = [(json.loads(element), element) for element in elements]
    runs = itertools.groupby(parsed, key=lambda pair: group(pair[0]))
    ordered = [pair for _, run in runs for pair in sorted(run, key=lambda pair: order(pair[0]))]
    return join_array(before, [element for _, element in ordered], after)


def by_graph(text):
    return reorder(text, 2, lambda entry: entry["rank"], lambda entry: entry["graph"])


def by_parity_graph(text):
    return reorder(text, 4, lambda entry: 0, lambda entry: entry["graph"])


def trace_section(event):
    if event["ph"] == "X":
        return "events", event["pid"]
    return ("threads", event["pid"]) if event["name"].startswith("thread_") else ("processes", 0)


def by_thread(text):
    """Also blanks the number of a thread, after a look that those of a process are 0, 1, 2, ..."""
    numbers = {}
    for event in json.loads(text):
        if event["name"] == "thread_sort_index":
            numbers.setdefault(event["pid"], []).append(event["args"]["sort_index"])
    if any(sorted(found) != list(range(len(found))) for found in numbers.values()):
        return "thread_sort_index is no permutation\n" + text
    text = re.sub(r'("sort_index": )\d+(\n    \},\n    "name": "thread_sort_index")', r"\1*\2", text)
    parts = split_array(text, 2)
    if join_array(*parts) != text:
        return text
    parsed = [(json.loads(element.replace('"sort_index": *', '"sort_index": 0')), element) for element in parts[1]]
    ordered = []
    for section, run in itertools.groupby(parsed, key=lambda pair: trace_section(pair[0])):
        ordered += run if section[0] == "processes" else sorted(run, key=lambda pair: pair[0]["tid"])
    return join_array(parts[0], [element for _, element in ordered], parts[2])


def without_year(text):
    return re.sub(r'"timestamp":"\d{4}-(\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")', r'"timestamp":"YYYY-\1', text)


FORMS = {"raw.jsonl": without_year, "runtime_estimations.json": by_graph, "collective_schedules.json": by_graph,
         "collectives_parity.json": by_parity_graph, "chromium_trace_with_runtime.json": by_thread}


def in_one_form(path, content):
    """The bytes as they are compared."""
    form = FORMS.get(os.path.basename(path))
    if form is None:
        return content
    try:
        return form(content.decode()).encode()
    except (ValueError, KeyError, TypeError):
        return content  # broken: it will differ


# --- comparing ---

def single_golden(case, rank):
    """The golden of one rank's log alone."""
    folder = case.name.partition("__")[0]
    found = [path for path in case.expected.parent.glob(f"{folder}__dedicated_log_torch_trace_rank_{rank}*")
             if re.fullmatch(rf"{folder}__dedicated_log_torch_trace_rank_{rank}(_.*)?", path.name)]
    assert len(found) == 1, f"{case.name}: goldens of rank {rank}: {found}"
    return found[0]


def expected_bytes(case, path):
    content = (case.expected / path).read_bytes()
    rank = re.fullmatch(r"rank_(\d+)/raw\.jsonl", path)
    if rank:
        table, _, _ = (single_golden(case, rank[1]) / "raw.jsonl").read_bytes().partition(b"\n")
        content = table + b"\n" + content.partition(b"\n")[2]
    return content


def first_difference(path, wanted, got):
    """One line: where two contents part."""
    at = next((index for index, pair in enumerate(zip(wanted, got)) if pair[0] != pair[1]), min(len(wanted), len(got)))
    line, begin = wanted[:at].count(b"\n") + 1, max(0, at - 60)
    return (f"{path}: {len(got)} bytes, must be {len(wanted)}; byte {at}, line {line}\n"
            f"    ours   {got[begin:at + 100]!r}\n    theirs {wanted[begin:at + 100]!r}")


def is_graph_page(case, path, wanted):
    """Graphs have a page beside their text, but not with --compat."""
    return "--compat" not in case.flags and "graph" in path and path.endswith(".html") and path[:-5] + ".txt" in wanted


def compare_tree(case, out):
    """What is wrong with the tree at `out`, most telling first."""
    wanted, got = expected_paths(case.expected), paths_of(out) if out.exists() else []
    wrong = [f"{path}: not written" for path in wanted if path not in set(got)]
    wrong += [f"{path}: is not among tlparse's files" for path in got if path not in set(wanted) and not is_graph_page(case, path, wanted)]
    for path in wanted:
        if path.endswith(".html") or path not in set(got):
            continue
        theirs, ours = in_one_form(path, expected_bytes(case, path)), in_one_form(path, (out / path).read_bytes())
        if theirs != ours:
            wrong.append(first_difference(path, theirs, ours))
    return wrong
