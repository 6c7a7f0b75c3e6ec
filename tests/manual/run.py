#!/usr/bin/env python3
"""Checks man pages and completions: made of the same descriptions as --help, well formed, and of use in a shell.

usage: run.py [--binary PATH]

groff reads every page without a warning; bash really completes. zsh and fish check their files where they are installed.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402

HIDDEN = {"--junit", "--sarif", "--post-run", "--no-sandbox", "--alone", "--local", "--wait"}  # the first screen has no room for them
OLDER = {"--no-store"}  # names of what has another one now
HIDDEN_COMMANDS = {"fetch", "publish", "skill", "help"}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def options_of_help(text):
    """Names of options in the left column of a help."""
    found = set()
    for line in text.splitlines():
        match = re.match(r" {2,4}(-\S+)", line)
        found |= set(match[1].split(",")) if match else set()
    return found


def options_of_page(page):
    heads = re.findall(r"^\.TP\n\\fB(.*?)\\fR", page, re.M)
    return {name.strip() for head in heads for name in head.replace("\\-", "-").split(",") if name.strip().startswith("-")}


def commands_of(binary):
    text = run(binary, "--help").split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in text.splitlines()] + sorted(HIDDEN_COMMANDS)


def check_page(page, name):
    assert page.startswith(f'.TH {name.upper().replace("-", chr(92) + "-")} 1 '), page[:50]
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"):
        assert f"\n.SH {section}\n" in page, f"{name} has no section {section}"
    if shutil.which("groff"):
        read = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        assert read.returncode == 0 and not read.stderr, f"{name}: {read.stderr}"


def pages(binary, _):
    """Every option of the help is in the page, and no other but those that the first screen leaves out."""
    for command in [None, *commands_of(binary)]:
        words = [command] if command else []
        page = run(binary, "help", *words, "--man")
        check_page(page, f"debrief-{command}" if command else "debrief")
        helped, written = options_of_help(run(binary, *words, "--help")), options_of_page(page)
        assert helped <= written, f"{command}: {helped - written} is not in the man page"
        assert written - helped <= OLDER | (HIDDEN if not command else set()), f"{command}: {written - helped} is not in the help"
        assert run(binary, "help", *words) == run(binary, *words, "--help"), command


def completions(binary, *words):
    script = "source <(\"$0\" help --completion bash); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _debrief; printf '%s\\n' \"${COMPREPLY[@]}\""
    return set(run("bash", "-c", script, binary, "debrief", *words, cwd=ROOT / "examples").split("\n")) - {""}


def bash(binary, _):
    assert completions(binary, "fli") == {"flight"}
    assert set(commands_of(binary)) <= completions(binary, "")
    assert completions(binary, "--single") == {"--single-file"}
    assert completions(binary, "flight", "--pg") == {"--pg-filters"}
    assert "--json" not in completions(binary, "skill", "--j")
    assert completions(binary, "profile", "--definition", "t") == {"tracelens", "tensorboard"}
    assert completions(binary, "doctor", "--for", "") == {"bash", "sbatch", "k8s"}
    assert "outputs" in completions(binary, "list", "ou")
    assert completions(binary, "hung") == {"hung-job"} and completions(binary, "flight", "-o", "hung") == {"hung-job"}
    everything = options_of_help(run(binary, "compile", "--help"))
    assert everything <= completions(binary, "compile", "-"), "an option of the help is not completed"


def other_shells(binary, folder):
    for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
        text = run(binary, "help", "--completion", shell)
        for command in commands_of(binary):
            assert re.search(rf"\b{command}\b", text), f"{shell}: {command} is missing"
        assert "tracelens tensorboard" in text
        if shutil.which(shell):
            (folder / shell).write_text(text)
            run(*check, folder / shell)


def install(binary, folder):
    run(binary, "help", "--install", folder)
    names = {path.name for path in (folder / "share/man/man1").iterdir()}
    assert names == {"debrief.1", *(f"debrief-{command}.1" for command in commands_of(binary))}, names
    for path in ("bash-completion/completions/debrief", "zsh/site-functions/_debrief", "fish/vendor_completions.d/debrief.fish"):
        assert (folder / "share" / path).read_text().count("\n") > 10, path


def main():
    options = in_folders.parser(__doc__).parse_args()
    tests = [(test.__name__, lambda folder, test=test: test(options.binary, folder)) for test in (pages, bash, other_shells, install)]
    return in_folders.run_all("manual", tests, options.patterns)


if __name__ == "__main__":
    sys.exit(main())
