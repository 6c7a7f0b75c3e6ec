#!/usr/bin/env python3
"""Runs the conformance tests: what debrief says of the reference data in ../shared/data.

usage: run.py [--binary PATH] [--time only|not] [PATTERN...]

The data lies beside the checkout (or where $DEBRIEF_SHARED_DATA says) and is unpacked once into
build/shared-data by its own `unpack` script. Without it nothing is tested: exit code 77, which ctest
shows as skipped. Tests are the functions test_*(context) in the files test_*.py of this folder and
those below it; one fails by raising. PATTERN selects tests by a part of `file.function`.

Tests run beside each other, with less right to the processor than what else runs; those that measure time run alone, and
--time only or not chooses them or the others. What debrief makes of the data as it is, it makes once for all tests.
"""
import argparse
import fcntl
import hashlib
import importlib.util
import json
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
MEASURE_TIME = "test_inventory."


class Context:
    """What a test works with."""

    def __init__(self, binary, data, scratch, shared):
        self.binary = binary    # the command under test
        self.data = data        # folder with recorded/ and public/; not to be written to
        self.scratch = scratch  # empty folder of this test
        self.shared = shared    # outputs of all tests; not to be written to

    def start(self, arguments, cwd=None):
        return subprocess.run([self.binary, *arguments], cwd=cwd or self.data, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL)

    def is_of_data(self, word):
        return (self.data / word).exists() and self.data in (self.data / word).resolve().parents

    def shared_words(self, words):
        """(the words without the output folder, that folder) when this is a report with a store, of nothing but the data."""
        if "-o" not in words or "--no-store" in words:
            return None
        at = words.index("-o")
        out, others = Path(words[at + 1]), [word for word in words[:at] + words[at + 2:] if word != "--overwrite"]
        is_new = out.is_symlink() or not out.exists()
        is_of_data = all(self.is_of_data(word) for word in others if not word.startswith("-"))
        return (others, out) if is_new and is_of_data else None

    def run_shared(self, words, out):
        """Made once; `out` becomes a link to it."""
        place = self.shared / hashlib.sha256("\0".join(words).encode()).hexdigest()
        with open(place.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            answer = place.with_suffix(".pickle")
            if not answer.exists():
                answer.write_bytes(pickle.dumps(self.start([*words, "-o", str(place)])))
        if out.is_symlink():
            out.unlink()
        if place.exists():
            out.symlink_to(place)
        return pickle.loads(answer.read_bytes())

    def run(self, *arguments, cwd=None, check=True):
        """Runs debrief, by default in the data folder; returns the CompletedProcess with text streams."""
        words = [str(argument) for argument in arguments]
        shared = None if cwd else self.shared_words(words)
        done = self.run_shared(*shared) if shared else self.start(words, cwd)
        if check and done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: debrief {' '.join(map(str, arguments))}\n{done.stderr[-2000:]}")
        return done

    def report(self, paths, *options):
        """What debrief says of the paths, as the object that --json prints."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        done = self.run(*paths, "--json", "--quiet", "--no-store", "--no-report", "-o", folder, *options)
        return json.loads(done.stdout)


def find_data():
    """The unpacked data, or None when there is none."""
    packed = Path(os.environ.get("DEBRIEF_SHARED_DATA", ROOT.parent / "shared/data"))
    if not (packed / "unpack").exists():
        return None
    target = ROOT / "build/shared-data"
    target.parent.mkdir(exist_ok=True)  # the lock: tests of the browser unpack the same
    subprocess.run(["flock", f"{target}.lock", packed / "unpack", target], check=True, stdout=subprocess.DEVNULL)
    return target


def find_tests(patterns):
    paths = sorted(HERE.rglob("test_*.py"), key=lambda path: path.name)
    # What tests import lies beside them, here, or beside this folder.
    sys.path[:0] = dict.fromkeys(str(folder) for folder in [*(path.parent for path in paths), HERE, HERE.parent])
    for path in paths:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in sorted(name for name in vars(module) if name.startswith("test_")):
            title = f"{path.stem}.{name}"
            if not patterns or any(pattern in title for pattern in patterns):
                yield title, getattr(module, name)


def cpu_seconds():
    """Of this process and of those that it waited for: other work on the machine does not count."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def passes(title, test, binary, data, shared):
    started = cpu_seconds()
    with tempfile.TemporaryDirectory(prefix="conformance.") as scratch:
        try:
            test(Context(binary, data, Path(scratch), shared))
        except AssertionError as failure:
            print(f"FAILED {title}\n{failure}", flush=True)
            return False
        except Exception:  # a broken test is a failed test, and the others go on
            print(f"FAILED {title}\n{traceback.format_exc()}", flush=True)
            return False
    print(f"passed {title} ({cpu_seconds() - started:.1f} CPU-s)", flush=True)
    return True


def run_all(tests, *others):
    """Beside each other, but for those that measure wall time."""
    alone = [test for test in tests if test[0].startswith(MEASURE_TIME)]
    global beside
    beside = [(*test, *others) for test in tests if test not in alone]
    # fork: tests are functions of loaded files
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), initializer=os.nice, initargs=(5,)) as pool:
        outcomes = pool.map(run_number, range(len(beside)), chunksize=1)
    return outcomes + [passes(*test, *others) for test in alone]


def run_number(number):
    return passes(*beside[number])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=ROOT / "build/release/debrief", type=Path)
    parser.add_argument("--time", choices=("only", "not"))
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    data = find_data()
    if data is None:
        print("skipped: no ../shared/data beside the checkout")
        sys.exit(SKIPPED)
    tests = [test for test in find_tests(options.patterns)
             if options.time is None or test[0].startswith(MEASURE_TIME) == (options.time == "only")]
    with tempfile.TemporaryDirectory(prefix="conformance.") as shared:
        outcomes = run_all(tests, options.binary.resolve(), data, Path(shared))
    print(f"{outcomes.count(True)} passed, {outcomes.count(False)} failed")
    sys.exit(0 if outcomes and all(outcomes) else 1)


if __name__ == "__main__":
    main()
