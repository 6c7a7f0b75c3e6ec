#!/usr/bin/env python3
"""debrief in CI: runs it, compares with a baseline, writes summary and comment, and fails when a gate says so.

usage: debrief_ci.py check       a run of this pipeline
       debrief_ci.py answer      a comment of an issue that asks (/debrief) and has logs attached (GitHub)

Settings are variables, as action.yml and ci/gitlab.yml set them (docs/ci.md):

    DEBRIEF_PATH       files and folders, one a line          DEBRIEF_FAIL_ON   info, warning, error, none
    DEBRIEF_BASELINE   what an earlier run left               DEBRIEF_GATES     gates of `debrief diff`, one a line
    DEBRIEF_OUTPUT     folder of the report                   DEBRIEF_NAME      name of the comment
    DEBRIEF_COMMENT    true: comment                          DEBRIEF_TOKEN     with what
    DEBRIEF            the program; without it, debrief of PATH

Exit codes: 0 passed, 1 debrief or this script failed, 2 wrong settings, 3 a gate failed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from forge import Trouble, forge_of

LEVELS = {"none": 9, "error": 2, "warning": 1, "info": 0}
MOST_FILES, MOST_BYTES = 8, 200 << 20


class Usage(Exception):
    """A setting that is wrong."""


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


class Settings:
    def __init__(self, environment):
        self.paths = lines(environment.get("DEBRIEF_PATH", ""))
        self.baseline = environment.get("DEBRIEF_BASELINE", "").strip()
        self.fail_on = environment.get("DEBRIEF_FAIL_ON", "").strip() or "error"
        self.gates = lines(environment.get("DEBRIEF_GATES", ""))
        self.output = environment.get("DEBRIEF_OUTPUT", "").strip() or "debrief_out"
        self.name = environment.get("DEBRIEF_NAME", "").strip() or "debrief"
        self.comments = environment.get("DEBRIEF_COMMENT", "true").strip().lower() == "true"
        self.token = environment.get("DEBRIEF_TOKEN", "")
        self.program = environment.get("DEBRIEF", "").strip() or "debrief"
        if self.fail_on not in LEVELS:
            raise Usage(f"fail-on is {self.fail_on}: choose from {', '.join(LEVELS)}.")

    def check(self):
        if not self.paths:
            raise Usage("no path: name the files or folders that the job left.")
        for path in self.paths:
            if not os.path.exists(path):
                raise Usage(f"no such file or folder: {path}.")
        if self.gates and not self.baseline:
            raise Usage("gates compare with a baseline, and none is named.")
        if self.baseline and len(self.paths) > 1:
            raise Usage("one path is compared with a baseline: name the folder that holds all of them.")


class Answer:
    """What debrief said of a run."""

    def __init__(self, markdown, folder):
        self.markdown = markdown
        self.findings = json.loads(Path(folder, "findings.json").read_text())["findings"]

    def worst(self):
        """The first of the worst level that does not follow from another; None without findings."""
        explained = {one for finding in self.findings for one in finding["explains"]}
        own = [finding for finding in self.findings if finding["role"] != "consequence" or finding["id"] not in explained]
        return min(own, key=lambda finding: -LEVELS.get(finding["severity"], 0), default=None)

    def is_healthy(self):
        return all(finding["severity"] == "info" for finding in self.findings)


def run(settings, *words, good=(0,)):
    """(exit code, stdout) of the program. No path is taken for an option: each begins with a dot or a slash."""
    try:
        done = subprocess.run([settings.program, *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Trouble(f"cannot start {settings.program}: {error.strerror}") from error
    sys.stderr.write(done.stderr)
    if done.returncode not in good:
        raise Trouble(f"debrief ended with exit code {done.returncode}: {done.stderr.strip() or 'it gave no reason'}")
    return done.returncode, done.stdout


def as_word(path):
    return path if os.path.isabs(path) else os.path.join(".", path)


def wanted_files(settings):
    """Files for other programs, where this debrief can write them: (option, file)."""
    words = run(settings, "--help")[1]
    files = {"--junit": "debrief-junit.xml", "--sarif": "debrief.sarif"}
    return {option: path for option, path in files.items() if re.search(rf"{option}\b", words)}


def look(settings, paths):
    extra = wanted_files(settings)
    words = [word for pair in extra.items() for word in pair]
    _, markdown = run(settings, *map(as_word, paths), "-o", as_word(settings.output), "--markdown", "--quiet", *words)
    return Answer(markdown, settings.output), extra


def compare(settings):
    """(Markdown, failed gates) of the difference from the baseline; nothing where there is no baseline yet."""
    if not settings.baseline:
        return "", []
    if not os.path.exists(settings.baseline):
        return f"\nThere is no baseline yet ({settings.baseline}): nothing was compared.\n", []
    words = [word for gate in settings.gates for word in ("--fail-on", gate)]
    both = as_word(settings.baseline), as_word(settings.paths[0])
    code, markdown = run(settings, "diff", *both, "--markdown", "--quiet", *words, good=(0, 3))
    return f"\n## Compared with the baseline\n\n{markdown}", settings.gates if code == 3 else []


def failed_gates(settings, answer, of_diff):
    failed = []
    bad = [finding for finding in answer.findings if LEVELS.get(finding["severity"], 0) >= LEVELS[settings.fail_on]]
    if bad:
        failed.append(f"{len(bad)} finding{'s' if len(bad) > 1 else ''} of level {settings.fail_on} or above")
    if of_diff:
        failed.append("compared with the baseline: " + ", ".join(of_diff))
    return failed


def comment(settings, forge, text):
    """A comment that cannot be written is no reason to fail the job: forks have no right to."""
    if not settings.comments or not forge.number:
        return
    if not settings.token:
        return print("debrief: no token, no comment", file=sys.stderr)
    try:
        forge.upsert(text, settings.name)
    except Trouble as trouble:
        print(f"debrief: the comment was not written: {trouble}", file=sys.stderr)


def check(settings, forge):
    settings.check()
    answer, extra = look(settings, settings.paths)
    difference, of_diff = compare(settings)
    failed = failed_gates(settings, answer, of_diff)
    text = answer.markdown + difference
    if failed:
        text += "\n**Gate failed:** " + "; ".join(failed) + "\n"
    worst = answer.worst()
    forge.summary(text)
    comment(settings, forge, text)
    headline = "No problem found" if answer.is_healthy() else worst["headline"]
    forge.outputs({"verdict": headline, "severity": worst["severity"] if worst else "none", "failed": "true" if failed else "false",
                   "ranks": ",".join(map(str, worst["ranks"])) if worst and not answer.is_healthy() else "", "findings": len(answer.findings),
                   "report": settings.output, "sarif": extra.get("--sarif", "")})
    forge.annotate("info" if answer.is_healthy() else worst["severity"], headline)
    for gate in failed:
        forge.annotate("error", f"gate failed: {gate}")
    return 3 if failed else 0


def attachments(body, server, repository):
    """Addresses of files that were attached to a comment: of this server alone, in the places where it keeps them."""
    found = []
    for address in re.findall(r"https?://[^\s()<>\"'\]]+", body):
        parts = urlsplit(address)
        kept = parts.path.startswith(("/user-attachments/files/", f"/{repository}/files/"))
        if kept and f"{parts.scheme}://{parts.netloc}" == server and ".." not in parts.path and address not in found:
            found.append(address)
    return found[:MOST_FILES]


def fetch(addresses, folder):
    """Into a folder each, under the last part of their names; bounded in all."""
    left = MOST_BYTES
    for number, address in enumerate(addresses):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", urlsplit(address).path.rpartition("/")[2]).lstrip(".") or "file"
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers={"User-Agent": "debrief"}), timeout=60) as answer:
                data = answer.read(left + 1)
        except (OSError, urllib.error.URLError) as error:
            raise Trouble(f"cannot fetch {address}: {error}") from error
        left -= len(data)
        if left < 0:
            raise Trouble(f"what is attached has more than {MOST_BYTES >> 20} MB")
        path = Path(folder, str(number), name)
        path.parent.mkdir()
        path.write_bytes(data)


def answer_comment(settings, forge):
    """Looks at what is attached to a comment that asks for it, and answers below."""
    environment, body = os.environ, getattr(forge, "event", {}).get("comment", {}).get("body") or ""
    if not re.search(r"^/debrief\b", body, re.M):
        print("debrief: the comment does not ask (a line /debrief); nothing to do")
        return 0
    found = attachments(body, environment.get("GITHUB_SERVER_URL", "https://github.com"), environment.get("GITHUB_REPOSITORY", ""))
    settings.name = f"answer to comment {forge.event['comment'].get('id', '')}"
    if not found:
        comment(settings, forge, "No file is attached to the comment. Attach the logs, dumps or profiles of the job, also as .zip or .gz.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            fetch(found, folder)
            answer, _ = look(settings, [folder])
            text = answer.markdown
        except Trouble as trouble:
            text = f"debrief could not read what is attached: {trouble}."
        comment(settings, forge, text.replace(folder, "attached"))
        forge.summary(text)
    return 0


def main():
    mode = sys.argv[1] if len(sys.argv) == 2 else ""
    try:
        settings, forge = Settings(os.environ), forge_of(os.environ)
        if mode == "check":
            return check(settings, forge)
        if mode == "answer":
            return answer_comment(settings, forge)
        raise Usage("usage: debrief_ci.py check|answer")
    except Usage as trouble:
        print(f"debrief: {trouble}", file=sys.stderr)
        return 2
    except Trouble as trouble:
        forge.annotate("error", str(trouble))
        print(f"debrief: {trouble}.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
