"""What runners of tests share: their options, an empty folder for each test, and the count in the end."""
import argparse
import tempfile
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Skip(Exception):
    """The test cannot run here; the text says why."""


def parser(doc, binary="build/release/debrief"):
    """Of a runner with this __doc__: the command under test, and parts of the names to run."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("--binary", type=lambda path: Path(path).resolve(), default=ROOT / binary)
    made.add_argument("patterns", nargs="*")
    return made


def run(title, module):
    """Runs the functions test_* of a file; the exit code. `module` is its globals(), whose BINARY becomes the command under test."""
    options = parser(module["__doc__"]).parse_args()
    module["BINARY"] = options.binary
    return run_all(title, named("test_", module), options.patterns)


def named(prefix, module):
    return [(name, test) for name, test in module.items() if name.startswith(prefix)]


def run_all(title, tests, patterns=()):
    """Runs (name, function of an empty folder); the exit code. A test fails by raising, and the others go on."""
    outcomes = Counter(outcome(name, test) for name, test in tests
                       if not patterns or any(pattern in name for pattern in patterns))
    print(f"{title}: " + ", ".join(f"{outcomes[what]} {what}" for what in ("passed", "failed", "skipped")
                                   if outcomes[what] or what != "skipped"))
    return 0 if outcomes["passed"] and not outcomes["failed"] else 1


def outcome(name, test):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        try:
            test(Path(scratch).resolve())
        except Skip as reason:
            print(f"skipped {name}: {reason}")
            return "skipped"
        except Exception:  # noqa: BLE001: printed, and the others run
            print(f"FAILED {name}\n{traceback.format_exc()[-4000:]}", flush=True)
            return "failed"
    return "passed"
