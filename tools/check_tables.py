#!/usr/bin/env python3
"""Checks that docs/tables.md says what the tables.def files say: the build writes nothing into the sources.

usage: check_tables.py [--update | --self-test]

--update (`make docs`) writes the page anew.
"""
import difflib
import sys
import tempfile
from pathlib import Path

import gen_tables

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tables.md"


def differences(page, wanted, most=20):
    """The first lines in which the page differs from what it should be."""
    lines = difflib.unified_diff(page.splitlines(), wanted.splitlines(), "docs/tables.md", "tables.def", lineterm="", n=0)
    return list(lines)[:most]


def page_of(definition):
    """The page of a repository with one tables.def; the message when it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "src/inputs/tally/tables.def"
        path.parent.mkdir(parents=True)
        path.write_text(definition)
        try:
            return gen_tables.document(*gen_tables.read_tables(Path(folder)))
        except SystemExit as refused:
            return str(refused)


def self_test():
    table = "table tally: one name\n"
    page = page_of(table + '  column wait_ns i64 [ns] "waits": how long\n')
    assert "### tally" in page and "## Family tally" in page and "*raw*" in page, page
    assert "| wait_ns | BIGINT | ns | how long |" in page, page
    assert "| rank |" not in page, "identity columns are explained once"
    assert not differences(page, page) and differences(page, page.replace("how long", "how short"))
    for wrong, why in [("  column wait_ns i64: x", "is in ns by its name"), ("  column x i64 [miles]: x", "unknown unit"),
                       ("  column x int: x", "unknown type"), ("  column rank i32: x", "declared twice"),
                       ("table tally: again", "declared already"), ("  colum x i32: x", "neither")]:
        assert why in page_of(table + wrong + "\n"), f"{wrong} was let through"


def main():
    if "--self-test" in sys.argv:
        return self_test()
    wanted = gen_tables.document(*gen_tables.read_tables(ROOT))
    if "--update" in sys.argv:
        PAGE.write_text(wanted)
    if different := differences(PAGE.read_text(), wanted):
        print("\n".join(different), "docs/tables.md is not what the tables.def files say: make docs", sep="\n")
        sys.exit(1)
    print("tables: docs/tables.md says what the tables.def files say")


main()
