#!/usr/bin/env python3
"""Reads every kind of finding in one sitting: docs/findings.md has an example of each, and every headline follows the rules.

usage: run.py [--binary PATH] [--update]

Findings come from the inputs of the goldens, the examples, small cases made for this (cases.py), the tuning half of tests/campaign and, where they are there, the
jobs of ../shared/data. Checked is

  * no headline has more than 100 characters, a sentinel (-2147483648), an empty name ("Ranks  joined", "type Float, rank 2 with "), a raw
    list of lists ([[16, 256]]), a line end, or words that docs/verdict.md replaces;
  * every next step is a sentence, or sentences: it begins with a capital letter, and ends as one where it does not end in a command to paste;
  * every rule in the sources has an example in docs/findings.md, or is named there with the reason why it has none (cases.py);
  * the story of a job on a terminal has at most 15 lines, whatever its width;
  * docs/findings.md is what this would write (compared by rule: an example of ../shared/data is only compared when that is there).

--update writes docs/findings.md.
"""
import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "build/shared-data"  # unpacked
PAGE = ROOT / "docs/findings.md"
LONGEST = 100
MOST_LINES = 15  # of the story of one job
PUBLIC = ("public/tlparse/inputs/multi_rank_runtime", "public/tlparse/inputs/multi_rank_schedule", "public/flight_recorder/gpu_error_1st", "public/kineto/hta")
FEATURES = ("wrong_counter", "early_device", "op_trace", "rank_logs", "other_groups")  # of tests/conformance/feature_inputs.py

sys.path.insert(0, str(ROOT / "tests/rules"))
sys.path.insert(0, str(ROOT / "tests/conformance"))
from cases import CASES, WITHOUT  # noqa: E402
from run import find_data  # noqa: E402

LITERAL = re.compile(r'"((?:accel|comm_share|compile|compile_ranks|cost|coverage|execution_replay|flight|flight_comm_state|host_\w+|load_balance|memory|memory_fit|memory_ranks|op_summary|profile|recording_end'
                     r'|text_\w+|verdict|what_if)\.[a-z_0-9]+)"')
COMPOSED = ["compile_ranks.order", "compile_ranks.collectives_by_graph", "compile_ranks.tensor_shapes"]
PATTERNS = {
    "a sentinel": re.compile(r"-2147483648|-9223372036854775808|:-\d"),
    "an empty name": re.compile(r"\b[Rr]anks?  |\[\]|(?<!\w)\(\)|\(:|  |[ :,(]$|\bwith $|\bof $"),
    "a raw list": re.compile(r"\[\["),
    "a line end": re.compile(r"[\n\r]"),
    "a replaced word": re.compile(r"works no longer|without a word|never came|ran into (?:its|their) time limit|no computation hides|stacks part|of its own doing"
                                  r"|again and again|is silent|of no job|taken off|\b1 (?:calls|ranks|graph breaks|compilations)\b"),
}
TEMPORARY = re.compile(r"\S*/rules_made\.\w+/(?:cases|features|campaign)/")
EVIL = ("markdown", "hostile", "escape")  # goldens whose names are attacks: long, and none of ours


def has_shared():
    return SHARED.is_dir()


def made(folder):
    """(name, path) of inputs that are written into `folder`."""
    for rule, make in CASES.items():
        path = folder / "cases" / rule
        path.mkdir(parents=True)
        make(path)
        yield f"tests/rules/cases.py: {make.__name__}", path
    for name in FEATURES:
        path = folder / "features" / name
        subprocess.run([sys.executable, ROOT / "tests/conformance/feature_inputs.py", name, path], check=True)
        yield f"tests/conformance/feature_inputs.py: {name}", path
    with tarfile.open(ROOT / "tests/campaign/jobs.tar.xz") as archive:
        archive.extractall(folder / "campaign", filter="data")
    for path in sorted((folder / "campaign").iterdir()):
        truth = json.loads(path.with_suffix(".json").read_text()) if path.is_dir() else {"half": None}
        if truth["half"] == "tune" and truth.get("set") != "third":  # the kept half is not read; two sets are enough
            yield f"tests/campaign: {path.name}", path


def jobs(folder):
    """(name, path) of what is read: all in the repository first."""
    for path in sorted([*ROOT.glob("examples/*"), *ROOT.glob("tests/golden/*/*/input")]):
        if path.is_dir() and not any(word in path.as_posix() for word in EVIL):
            yield path.relative_to(ROOT).as_posix(), path
    yield from made(folder)
    for name in ("recorded", "train", *PUBLIC):
        if (SHARED / name).is_dir():
            yield f"shared data: {name}", SHARED / name


def findings_of(binary, path):
    with tempfile.TemporaryDirectory(prefix="rules.") as folder:
        done = subprocess.run([binary, path, "--json", "--quiet", "--no-store", "--no-report", "-o", "out"], cwd=folder, capture_output=True, timeout=600)
    return json.loads(done.stdout)["findings"] if done.stdout.startswith(b"{") else []


def gather(binary, names):
    """Every finding with the job it is of, in a fixed order."""
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda job: findings_of(binary, job[1]), names))
    return [(name, finding) for (name, _), findings in zip(names, found) for finding in findings]


def story_of(binary, path, columns):
    with tempfile.TemporaryDirectory(prefix="rules.") as folder:
        done = subprocess.run([binary, path, "--quiet", "--no-store", "--no-report", "-o", "out"], cwd=folder, capture_output=True, text=True, timeout=600,
                              env={"PATH": "/usr/bin:/bin", "COLUMNS": str(columns)})
    return done.stdout.splitlines()


def long_stories(binary, names):
    """Sentences about jobs whose story does not fit. Several jobs below one path are no story."""
    several = [path for folder in ("recorded/jobs", "train") for path in sorted((SHARED / folder).glob("*")) if path.is_dir()] if has_shared() else []
    known = [(name, path) for name, path in names if not name.startswith("shared")] + [(f"shared data: {path.name}", path) for path in several]
    tasks = [(name, path, columns) for name, path in known for columns in (72, 100)]
    with ThreadPoolExecutor(2) as pool:
        stories = list(pool.map(lambda task: story_of(binary, *task[1:]), tasks))
    for (name, _, columns), lines in zip(tasks, stories):
        is_story = not any(line.startswith("Inputs: ") for line in lines)
        if is_story and len(lines) > MOST_LINES:
            yield f"{name}: the story has {len(lines)} lines of {columns} columns"


def wrong_with(headline):
    reasons = [reason for reason, pattern in PATTERNS.items() if pattern.search(headline)]
    return reasons + ([f"{len(headline)} characters"] if len(headline) > LONGEST else [])


def wrong_with_next(step):
    """Of a next step; what the compiler itself hints at is quoted as it is."""
    line = step.split("\n")[0].strip()
    is_command = re.search(r"(?:: |&& |; )debrief \w[^.]*\S$", line) or line.endswith('"')
    return ([] if re.match(r"[A-Z]", line) else ["begins with no capital letter"]) + ([] if line[-1] in ".?!" or is_command else ["ends in the middle of a sentence"])


def rules_of_sources():
    """Rules that the analyses name, and that are no words to find others by."""
    texts = [path.read_text() for path in sorted((ROOT / "src/analyses").rglob("*.cc"))]
    return sorted({rule for text in texts for rule in LITERAL.findall(text)} | set(COMPOSED))


def section(rule, name, finding):
    clean = [TEMPORARY.sub("", finding[key].replace(str(ROOT) + "/", "").replace(str(SHARED), "shared/data")) for key in ("headline", "next_step")]
    lines = [f"### {rule}", "", f"> {finding['severity']}: {clean[0]}", ""]
    if clean[1]:
        lines.append(f"Next: {clean[1].splitlines()[0]}  ")
    for evidence in finding["evidence"][:2]:
        text = TEMPORARY.sub("", evidence["text"].replace(str(ROOT) + "/", "").replace(str(SHARED), "shared/data")).split("\n")[0]
        table = f" (`{evidence['table']}`)" if evidence["table"] else ""
        lines.append(f"Evidence: {text[:160]}{table}  ")
    return "\n".join([*lines, f"From: {name}", ""])


def page(found):
    """(text of docs/findings.md, rules without an example)"""
    examples = {}
    for name, finding in found:
        examples.setdefault(finding["rule"], (name, finding))
    known = rules_of_sources()
    missing = [rule for rule in known if rule not in examples]
    parts = ["# Findings, an example of each", "",
             "Written by `tests/rules/run.py --update` from inputs of the tests. What the rules look at: [verdict.md](verdict.md),",
             "[profile.md](profile.md), [compile.md](compile.md), [cost.md](cost.md), [what_if.md](what_if.md), [accel_findings.md](accel_findings.md), [ops.md](ops.md).", ""]
    parts += [section(rule, *examples[rule]) for rule in sorted(examples)]
    parts += ["## Without an example", "", "| rule | why |", "|---|---|"]
    parts += [f"| {rule} | {WITHOUT.get(rule, '?')} |" for rule in missing] + [""]
    return "\n".join(parts), missing


def by_rule(text):
    return dict(part.split("\n", 1) for part in re.split(r"^### ", text.split("## Without")[0], flags=re.M)[1:])


def check(found, text, missing):
    """Sentences about what is wrong."""
    for name, finding in found:
        for reason in wrong_with(finding["headline"]):
            yield f"{finding['rule']} of {name}: {reason}: {finding['headline']}"
        for reason in wrong_with_next(finding["next_step"]) if finding["next_step"] else []:
            yield f"{finding['rule']} of {name}: the next step {reason}: {finding['next_step']}"
    if has_shared():
        yield from (f"{rule} has no example: add one to cases.py, or the reason why there is none" for rule in missing if rule not in WITHOUT)
        yield from (f"{rule} has an example, and a reason why there is none in cases.py" for rule in WITHOUT if rule not in missing)
    written, now = by_rule(PAGE.read_text() if PAGE.exists() else ""), by_rule(text)
    for rule in sorted(now.keys() | written.keys()):
        is_absent = rule not in now and not has_shared() and "shared data" in written[rule]
        if not is_absent and written.get(rule) != now.get(rule):
            yield f"docs/findings.md differs for {rule}: run tests/rules/run.py --update and read what changed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    find_data()
    binary = options.binary.resolve()
    with tempfile.TemporaryDirectory(prefix="rules_made.") as folder:
        names = list(jobs(Path(folder)))
        found = gather(binary, names)
        long = list(long_stories(binary, names))
    text, missing = page(found)
    if options.update:
        PAGE.write_text(text)
    problems = list(check(found, text, missing)) + long
    print("\n".join(problems))
    where = "" if has_shared() else "; skipped: the jobs of ../shared/data, which is not there"
    print(f"rules: {len(found)} findings of {len({finding['rule'] for _, finding in found})} rules, {len(problems)} problems{where}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
