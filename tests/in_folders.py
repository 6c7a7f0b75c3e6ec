"""Runs the functions test_* of a file, each in an empty folder of its own; one fails by raising, and the others go on."""
import argparse
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(title, module):
    """The exit code. `module` is the globals() of the file; its BINARY becomes the command under test."""
    parser = argparse.ArgumentParser(description=(module["__doc__"] or title).splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/debrief")
    parser.add_argument("--only", default="", help="a part of the names to run")
    options = parser.parse_args()
    module["BINARY"] = options.binary.resolve()
    names = [name for name in module if name.startswith("test_") and options.only in name]
    failed = [name for name in names if not passes(name, module[name])]
    print(f"{title}: {len(names) - len(failed)} of {len(names)} tests passed")
    return 1 if failed or not names else 0


def passes(name, test):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            test(Path(scratch))
        except Exception:  # noqa: BLE001: told, and the others run
            print(f"FAILED {name}\n{traceback.format_exc()[-4000:]}")
            return False
    return True
