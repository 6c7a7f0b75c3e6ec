"""debrief compile against tlparse 0.4.3: exit code, set of files and the bytes of every file that is no page.

How files are compared is told in compile_golden.py. A deliberate difference is a line of DIFFERENCES: (part of a case's
name, part of a complaint, words that docs/compat.md must have).
"""
import json
import re
import shutil

import compile_golden as golden

DIFFERENCES = [
    # A run that was refused leaves nothing behind, where tlparse leaves an empty folder that blocks the next run.
    # compare_refused() below checks ours; there is no complaint to excuse.
    ("__strict", None, "leaves no folder"),
    # The string table of a rank has only what that rank logged; see expected_bytes() of compile_golden.py.
    ("__allranks", None, "string table"),
    # Kinds that PyTorch logs since tlparse 0.4.3 are known; --compat counts them as unknown. See compare_stats().
    ("autotune_with_compile_id", None, "counted as unknown"),
]
KNOWN_BY_NOW = {"autotune_with_compile_id": 1, "inductor_provenance_jit_cuda_log": 1}  # compilation_metrics_runtime
SHOWN = 12

# Facts of the inputs: counters, entries of raw.jsonl, chromium events, files listed per compilation.
FACTS = {
    "artifacts": ("ok: 7", 7, 0, {"[0/0]": 6}),
    "autotune_with_compile_id": ("ok: 81, unknown: 1", 21, 60, {"[-/-]": 0, "[0/0]": 16}),
    "cache_hit_miss": ("ok: 369", 241, 128, {"[0/0]": 9, "[1/0]": 28}),
    "chromium_events": ("ok: 13", 7, 6, {"[0/0]": 3}),
    "comp_failure": ("ok: 13", 7, 6, {"[0/0]": 3}),
    "comp_metrics": ("ok: 12", 12, 0, {"[0/0]": 0, "[0/0_1]": 3, "[1/0]": 0, "[1/0_1]": 3, "[2/0]": 3}),
    "export": ("ok: 18, fail_payload_md5: 1", 18, 0, {"[-/-]": 0}),
    "links": ("ok: 9", 9, 0, {"[0/0]": 8}),
    "simple": ("ok: 64", 14, 50, {"[-/-]": 0, "[0/0]": 10}),
    "simple_corrupted_json": ("ok: 64, fail_payload_md5: 1", 14, 49, {"[-/-]": 0, "[0/0]": 10}),
    "inductor_provenance_aot_cuda_log": ("ok: 105", 26, 79, {"[-/-]": 14}),
    "inductor_provenance_aot_debug_handle_log": ("ok: 118", 25, 93, {"[-/-]": 13}),
    "inductor_provenance_aot_log": ("ok: 74", 25, 49, {"[-/-]": 13}),
    "inductor_provenance_aot_log_old": ("ok: 70", 27, 43, {"[-/-]": 15}),
    "inductor_provenance_extended_log": ("ok: 106, fail_payload_md5: 1", 27, 79, {"[-/-]": 15}),
    "inductor_provenance_jit_cuda_log": ("ok: 133, unknown: 1", 38, 95, {"[-/-]": 0, "[0/0]": 18}),
    "inductor_provenance_jit_log": ("ok: 101", 36, 65, {"[-/-]": 0, "[0/0]": 17}),
}


def compile_case(context, case, out):
    return context.run("compile", case.input, "-o", out, "--no-browser", *case.flags, check=False)


def compare_refused(done, out):
    wrong = [] if done.returncode == 1 else [f"exit code {done.returncode}, must be 1"]
    if "Something went wrong" not in done.stderr:
        wrong.append(f"stderr does not say 'Something went wrong': {done.stderr[-300:]}")
    return wrong + (["the refused run left a folder"] if out.exists() else [])


def compare_stats(case, done):
    """The counters, of runs over one log; an export prints none."""
    log = case.name.partition("__")[0]
    if log not in FACTS or "-e" in case.flags:
        return []
    counters = FACTS[log][0]
    if "--compat" not in case.flags and log in KNOWN_BY_NOW:
        counters = counters.removesuffix(f", unknown: {KNOWN_BY_NOW[log]}")
    line = f"Stats {{ {counters} }}"
    return [] if line in done.stderr.splitlines() else [f"stderr has no line '{line}': {done.stderr[-300:]}"]


def complaints(context, case, out):
    done = compile_case(context, case, out)
    if case.refused:
        wrong = compare_refused(done, out)
    elif done.returncode != 0:
        wrong = [f"exit code {done.returncode}: {done.stderr[-1000:]}"]
    else:
        wrong = golden.compare_tree(case, out) + compare_stats(case, done)
    excused = [part for name, part, _ in DIFFERENCES if part and name in case.name]
    return [line for line in wrong if not any(part in line for part in excused)]


def compare_all(context, selected):
    wrong, count = [], 0
    for case in golden.find_cases(context.data):
        if not selected(case):
            continue
        if case.input is None:
            print(f"  skipped {case.name}: its input is not among the data")
            continue
        count += 1
        out = context.scratch / case.name
        found = complaints(context, case, out)
        wrong += [f"{case.name}: {line}" for line in found[:SHOWN]]
        wrong += [f"{case.name}: ... {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        shutil.rmtree(out, ignore_errors=True)
    assert count, "no case at all"
    assert not wrong, "\n".join(wrong)
    print(f"  {count} cases")


def test_one_log(context):
    compare_all(context, lambda case: "--all-ranks-html" not in case.flags)


def test_all_ranks(context):
    compare_all(context, lambda case: "--all-ranks-html" in case.flags)


def test_counters_of_tlparse(context):
    for case in golden.find_cases(context.data):
        if case.name in FACTS:
            case.flags = ["--compat"]
            wrong = complaints(context, case, context.scratch / case.name)
            assert not wrong, f"{case.name}: {wrong}"


def test_facts(context):
    """What is known of the inputs, counted in our own files."""
    for log, (_, entries, events, listed) in FACTS.items():
        case = next(case for case in golden.find_cases(context.data) if case.name == log)
        out = context.scratch / log
        assert compile_case(context, case, out).returncode == 0, log
        lines = (out / "raw.jsonl").read_text().splitlines()
        assert lines[0].startswith('{"string_table":'), f"{log}: {lines[0][:100]}"
        assert len(lines) == entries + 1, f"{log}: raw.jsonl has {len(lines)} lines"
        assert len(json.loads((out / "chromium_events.json").read_text())) == events, f"{log}: chromium events"
        directory = json.loads((out / "compile_directory.json").read_text())
        assert {key: len(value["artifacts"]) for key, value in directory.items()} == listed, f"{log}: {directory.keys()}"


def test_raw_jsonl_of_comp_metrics(context):
    out = context.scratch / "out"
    context.run("compile", "public/tlparse/inputs/comp_metrics.log", "-o", out, "--no-browser", "--strict")
    entries = [json.loads(line) for line in (out / "raw.jsonl").read_text().splitlines()[1:]]
    assert len(entries) == 12
    for entry in entries:
        assert isinstance(entry["timestamp"], str) and isinstance(entry["pathname"], str), entry
        assert isinstance(entry["thread"], int) and isinstance(entry["lineno"], int), entry
    named = [entry["payload_filename"] for entry in entries if "payload_filename" in entry]
    assert len(named) >= 3 and all((out / name).is_file() for name in named), named
    assert sorted(path.stem for path in (out / "payloads").iterdir()) == [
        "11726d08889974e57b12edee2812504e", "29e35548d59d0e446f0c8a3f3010cc72", "e18e1bcb67140c0a67427a6119556f7a"]


def test_differences_are_documented(context):
    text = re.sub(r"\s+", " ", (golden.Path(__file__).parents[3] / "docs/compat.md").read_text())
    missing = [words for _, _, words in DIFFERENCES if words not in text]
    assert not missing, f"docs/compat.md does not mention: {missing}"


# --- the checker itself: a golden taken for our output passes, and each of these changes to it is seen ---

def golden_as_output(case, out):
    """A copy of the golden with stand-ins for pages, and of ranks with their own string tables."""
    for path in golden.expected_paths(case.expected):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(b"page" if path.endswith(".html") else golden.expected_bytes(case, path))


def change_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def swap_lines(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1], lines[2] = lines[2], lines[1]
    path.write_bytes(b"".join(lines))


def swap_ranks(path):
    """The first graphs of two ranks change places: no order of a directory explains that."""
    entries = json.loads(path.read_text())
    other = next(index for index, entry in enumerate(entries) if entry["rank"] != entries[0]["rank"])
    entries[0], entries[other] = entries[other], entries[0]
    path.write_text(json.dumps(entries, indent=2))


def swap_ops(path):
    entries = json.loads(path.read_text())
    entries[0]["ops"][:2] = entries[0]["ops"][1::-1]
    path.write_text(json.dumps(entries, indent=2))


def reverse_events(path):
    path.write_text(json.dumps(json.loads(path.read_text())[::-1], indent=2))


def same_number_twice(path):
    text = '"sort_index": {}\n    }},\n    "name": "thread_'
    path.write_text(path.read_text().replace(text.format(1), text.format(0), 1))


CHANGES = [
    ("simple", "raw.log", change_byte), ("simple", "chromium_events.json", change_byte),
    ("simple", "compile_directory.json", change_byte), ("simple", "raw.jsonl", change_byte),
    ("simple", "raw.jsonl", swap_lines), ("simple", "index.html", lambda path: path.unlink()),
    ("simple", "raw.log", lambda path: (path.parent / "more.txt").touch()),
    ("simple", "raw.log", lambda path: path.write_bytes(path.read_bytes() + b"\n")),
    ("multi_rank_schedule__allranks", "collective_schedules.json", swap_ranks),
    ("multi_rank_schedule__allranks", "collective_schedules.json", swap_ops),
    ("multi_rank_schedule__allranks", "rank_1/collectives_parity.json", change_byte),
    ("multi_rank_runtime__allranks", "runtime_estimations.json", swap_ops),
    ("multi_rank_runtime__allranks", "runtime_estimations.json", change_byte),
    ("multi_rank_runtime__allranks", "chromium_trace_with_runtime.json", reverse_events),
    ("multi_rank_runtime__allranks", "chromium_trace_with_runtime.json", same_number_twice),
    ("multi_rank_runtime__allranks", "rank_0/raw.jsonl", change_byte),
]


def test_checker(context):
    cases = {case.name: case for case in golden.find_cases(context.data)}
    for number, (name, path, change) in enumerate(CHANGES):
        out = context.scratch / str(number)
        golden_as_output(cases[name], out)
        assert golden.compare_tree(cases[name], out) == [], f"{name}: the golden itself does not pass"
        change(out / path)
        assert golden.compare_tree(cases[name], out), f"{name}: a change of {path} was not seen: {change.__name__}"
        shutil.rmtree(out)


def test_checker_allows(context):
    """What may differ: the year, and the order of the graphs of one rank."""
    cases = {case.name: case for case in golden.find_cases(context.data)}
    case, out = cases["multi_rank_runtime__allranks"], context.scratch / "out"
    golden_as_output(case, out)
    raw = out / "rank_0/raw.jsonl"
    raw.write_text(re.sub(r'"timestamp":"\d{4}', '"timestamp":"1999', raw.read_text()))
    for name in ("runtime_estimations.json", "collective_schedules.json"):
        entries = json.loads((out / name).read_text())
        entries.sort(key=lambda entry: (entry["rank"], [-ord(letter) for letter in entry["graph"]]))
        (out / name).write_text(json.dumps(entries, indent=2))
    assert golden.compare_tree(case, out) == []
