#!/usr/bin/env python3
"""`import debrief`: runs, findings and tables from Python, under every Python of this machine.

usage: run.py --binary FILE

Tables are handed out as Arrow: arrow_structure.py reads them by the specification, and DuckDB's own scan of Arrow streams
must find the same rows. pandas, polars and pyarrow are used where they are installed (python3-pandas of Debian).
"""
import argparse
import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import typing
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import arrow_structure  # noqa: E402
import debrief  # noqa: E402
from debrief import _arrow, _duckdb  # noqa: E402

JOB = ROOT / "examples/hung-job"
SCRATCH = tempfile.TemporaryDirectory()
pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def program(*words):
    done = subprocess.run([os.environ["DEBRIEF_BINARY"], *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stream_of(table):
    """(capsule, address of its stream); the capsule must live as long as the stream is used."""
    capsule = table.__arrow_c_stream__()
    return capsule, pointer_of(capsule, b"arrow_array_stream")


class OfAReport(unittest.TestCase):
    """One report of a hung job for all of them, with Parquet tables."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = SCRATCH
        cls.folder = Path(SCRATCH.name, "report")
        if not cls.folder.exists():
            program(JOB, "-o", cls.folder, "--parquet", "--quiet")
        cls.run_ = debrief.load(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.run_.close()


class Findings(OfAReport):
    def test_they_are_those_of_the_report(self):
        written = json.loads((self.folder / "findings.json").read_text())["findings"]
        self.assertEqual([finding.id for finding in self.run_.findings], [record["id"] for record in written])
        first = self.run_.findings[0]
        self.assertEqual(list(first.ranks), written[0]["ranks"])
        self.assertEqual([piece.text for piece in first.evidence], [piece["text"] for piece in written[0]["evidence"]])
        self.assertEqual(list(first.groups[0].ranks), written[0]["groups"][0]["ranks"])

    def test_verdict(self):
        verdict = self.run_.verdict
        self.assertFalse(verdict.is_healthy)
        self.assertEqual(verdict.ranks, (5,))
        self.assertEqual(str(verdict), "error: " + verdict.headline)
        self.assertIs(verdict.finding, self.run_.finding("f1"))
        self.assertEqual(self.run_.jobs[0].world_size, 8)

    def test_evidence_has_rows(self):
        tables = self.run_.evidence("f1")
        pieces = [piece for piece in self.run_.findings[0].evidence if piece.rows]
        self.assertEqual([len(table) for table in tables], [len(piece.rows) for piece in pieces])

    def test_a_healthy_run_accuses_nobody(self):
        path = Path(self.scratch.name, "healthy.py.out")
        path.write_text("".join(f"[rank0]: step {i} loss {2 - i / 50:.3f}\n" for i in range(40)))
        with debrief.load(path) as run:
            self.assertTrue(run.verdict.is_healthy, str(run.verdict))
            self.assertEqual((str(run.verdict), run.verdict.ranks), ("No problem found", ()))
            self.assertIn("No problem found", run._repr_html_())


class Loading(OfAReport):
    def same(self, run):
        self.assertEqual(run.verdict.headline, self.run_.verdict.headline)
        self.assertEqual(len(run.table("comm_op")), len(self.run_.table("comm_op")))

    def test_a_job_is_read_and_its_report_goes_away(self):
        run = debrief.load(JOB)
        self.same(run)
        folder = run.path
        self.assertTrue(folder.exists())
        run.close()
        self.assertFalse(folder.exists())

    def test_a_report_is_kept_where_it_is_asked_for(self):
        with debrief.load(JOB, output=Path(self.scratch.name, "kept")) as run:
            self.same(run)
        self.assertTrue(Path(self.scratch.name, "kept/index.html").exists())

    def test_store(self):
        with debrief.load(self.folder / "run.duckdb") as run:
            self.same(run)

    def test_parquet(self):
        with debrief.load(self.folder / "parquet") as run:
            self.same(run)
            self.assertEqual(run.tables, self.run_.tables)
            self.assertEqual(run.sql("SELECT count(*) AS n FROM comm_op JOIN rank USING (job, rank)").column("n"),
                             self.run_.sql("SELECT count(*) AS n FROM comm_op JOIN rank USING (job, rank)").column("n"))

    def test_a_report_with_parquet_alone(self):
        folder = Path(self.scratch.name, "parquet_alone")
        program(JOB, "-o", folder, "--store", "parquet", "--quiet")
        with debrief.load(folder) as run:
            self.same(run)
            self.assertIn("comm_op", run.tables)
            self.assertNotIn("debrief_meta", run.tables)
            self.assertEqual(run.table("comm_op").rows(), self.run_.table("comm_op").rows())
            with self.assertRaisesRegex(debrief.Error, "run.duckdb"):
                run.evidence("f1")

    def test_parquet_of_several_shards_is_one_table(self):
        parts = Path(self.scratch.name, "parts")
        for name in ("a", "b"):
            (parts / name).mkdir(parents=True)
            shutil.copy(self.folder / "parquet/comm_op.parquet", parts / name)
        with debrief.load(parts) as run:
            self.assertEqual(len(run.table("comm_op")), 2 * len(self.run_.table("comm_op")))

    def test_shards(self):
        shards = Path(self.scratch.name, "shards")
        for number in (1, 2):
            program("map", JOB, "--shard", f"{number}/2", "-o", f"{shards}/", "--quiet")
        with debrief.load(shards) as run:
            self.same(run)


class Tables(OfAReport):
    def test_every_table_is_whole_as_arrow(self):
        rows = 0
        for name in self.run_.tables:
            table = self.run_.table(name)
            capsule, address = stream_of(table)
            columns, found = arrow_structure.check_stream(address)
            self.assertEqual(columns, table.columns, name)
            rows += found
            del capsule
        self.assertGreater(rows, 1000)
        self.assertFalse(_arrow._exported)
        self.assertFalse(_arrow._in_capsules)

    def test_many_types_are_whole_as_arrow(self):
        sql = ("SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('é', (i % 5)::INT) END AS t, [i, NULL] AS l, {'a': i, 'b': ['x']} AS s, "
               "MAP {i: 'v'} AS m, (i % 2)::BOOLEAN AS b, i::DECIMAL(20, 3) AS d, i::HUGEINT AS h, 'a'::ENUM('a', 'b') AS e, "
               "[i, i]::BIGINT[2] AS f, 'x'::BLOB AS z, make_date(2020, 1, 1) AS day, to_timestamp(i) AS at, NULL AS n, INTERVAL 1 DAY AS v "
               "FROM range(5000) t(i)")
        capsule, address = stream_of(self.run_.sql(sql))
        self.assertEqual(arrow_structure.check_stream(address)[1], 5000)
        del capsule

    def test_duckdb_scans_what_is_handed_out(self):
        """Through DuckDB's own reader of Arrow streams into another database, and compared there. That reader takes all columns."""
        api, database = _duckdb._api(), _duckdb.Database(None)
        library = ctypes.CDLL(str(debrief._program.library()))
        scan = library.duckdb_arrow_scan
        scan.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        connection = database.connect()
        checks = "SELECT count(*) AS n, sum(rank) AS r, sum(hash(op, state, members, stack, created_ns)::HUGEINT) AS h FROM "
        capsule, address = stream_of(self.run_.table("comm_op"))
        self.assertEqual(scan(connection, b"handed_out", address), 0)
        database.execute("CREATE TABLE copied AS FROM handed_out")
        self.assertEqual(debrief.Table(database, checks + "copied").rows(), self.run_.sql(checks + "comm_op").rows())
        api.disconnect(ctypes.byref(connection))
        del capsule

    def test_rows_are_those_that_the_program_prints(self):
        for name in ("comm_op", "finding", "input", "text_event"):
            printed = json.loads(program("query", self.folder, "--table", name, "--json"))
            rows = self.run_.table(name).rows()
            self.assertEqual(json.loads(json.dumps(rows)), printed, name)

    def test_values(self):
        row = self.run_.sql("SELECT ?::INT AS i, ? AS t, ? AS f, ?::BOOLEAN AS b, ? AS n, [1, NULL] AS l, {'a': 'x'} AS s, MAP {1: 'v'} AS m, "
                            "1.5::DECIMAL(5, 2) AS d, DATE '2020-02-03' AS day, TIMESTAMP '2020-02-03 04:05:06.5' AS at, "
                            "'\\x00a'::BLOB AS z", 7, "a'b", 0.5, True, None).rows()[0]
        self.assertEqual((row["i"], row["t"], row["f"], row["b"], row["n"]), (7, "a'b", 0.5, True, None))
        self.assertEqual((row["l"], row["s"], row["m"], str(row["d"])), ([1, None], {"a": "x"}, [(1, "v")], "1.50"))
        self.assertEqual((str(row["day"]), str(row["at"]), row["z"]), ("2020-02-03", "2020-02-03 04:05:06.500000", b"\0a"))

    def test_a_stream_that_fails_says_why(self):
        capsule, address = stream_of(self.run_.sql("SELECT CASE WHEN i < 6000 THEN 1 ELSE error('too many rows') END AS x FROM range(9000) t(i)"))
        with self.assertRaisesRegex(AssertionError, "too many rows"):
            arrow_structure.check_stream(address)
        del capsule
        self.assertFalse(_arrow._exported)

    def test_a_table_outlives_its_run(self):
        run = debrief.load(self.folder)
        capsule, address = stream_of(run.table("comm_op"))
        run.close()
        self.assertEqual(arrow_structure.check_stream(address)[1], len(self.run_.table("comm_op")))
        del capsule

    def test_other_libraries(self):
        table = self.run_.table("comm_op")
        for name, made in (("pyarrow", lambda: table.to_arrow().num_rows), ("polars", lambda: table.to_polars().height),
                           ("pandas", lambda: len(table.to_pandas()))):
            with self.subTest(name):
                if importlib.util.find_spec(name) is None:
                    print(f"python: {name} is not installed here; its tables were not made", file=sys.stderr)
                else:
                    self.assertEqual(made(), len(table))


class Errors(OfAReport):
    def fails(self, words, work):
        with self.assertRaises(debrief.Error) as caught:
            work()
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_sentences(self):
        self.fails("no such file or folder", lambda: debrief.load("not there"))
        self.fails("Did you mean comm_op?", lambda: self.run_.table("comm_ops"))
        self.fails('"x" was not found', lambda: self.run_.sql("SELECT x"))
        self.fails("multiple statements", lambda: self.run_.sql("SELECT 1; SELECT 2"))
        self.fails("1 placeholders, and 0 values", lambda: self.run_.sql("SELECT ?"))
        self.fails("there is no finding f999", lambda: self.run_.finding("f999"))
        self.fails("there is no column x", lambda: self.run_.table("comm_op").column("x"))

    def test_the_program_speaks(self):
        error = self.fails("is no folder that debrief wrote", lambda: debrief.load(JOB, output=ROOT / "docs"))
        self.assertIn(error.exit_code, (1, 2))
        self.assertFalse(str(error).startswith("debrief:"))

    def test_statements_reach_no_other_files(self):
        for sql in ("FROM read_csv('/etc/passwd')", "COPY (SELECT 1) TO '/tmp/debrief_test.csv'", "ATTACH '/tmp/debrief_test.db'"):
            with self.assertRaises(debrief.Error):
                self.run_.sql(sql).rows()
        with debrief.load(self.folder / "parquet") as run:
            self.fails("disabled by configuration", lambda: run.sql(f"FROM read_parquet('{ROOT}/README.md')").rows())

    def test_nothing_to_write_to(self):
        with self.assertRaises(debrief.Error):
            self.run_.sql("DELETE FROM stored.comm_op").rows()

    def test_broken_reports(self):
        for text, words in (("{", "cannot read"), ('{"schema": 99}', "another version")):
            folder = Path(self.scratch.name, "broken")
            folder.mkdir(exist_ok=True)
            (folder / "findings.json").write_text(text)
            self.fails(words, lambda: debrief.load(folder).verdict)
        (folder / "findings.json").write_text('{"schema": 1, "findings": []}')
        self.fails("--no-store", lambda: debrief.load(folder).tables)
        (folder / "run.duckdb").write_text("no database")
        self.fails("cannot open", lambda: debrief.load(folder).tables)


class Notebook(OfAReport):
    def test_card(self):
        card = self.run_._repr_html_()
        self.assertIn("Rank 5", card)
        self.assertIn("data:image/svg+xml;base64,", card)
        self.assertTrue(self.run_.picture().startswith("<svg"))
        self.assertIn("<th>rank</th>", self.run_.table("comm_op")._repr_html_())

    def test_texts_of_inputs_are_no_markup(self):
        folder = Path(self.scratch.name, "hostile")
        folder.mkdir()
        record = {"id": "f1", "rule": "r", "severity": "error", "role": "cause", "headline": "<script>alert(1)</script>", "ranks": [0],
                  "next_step": "<img src=x onerror=y>", "why": "<b>", "evidence": [{"text": "<i>"}], "a_new_field": 1}
        (folder / "findings.json").write_text(json.dumps({"schema": 1, "findings": [record, {**record, "id": "<f2>"}]}))
        card = debrief.load(folder)._repr_html_()
        for text in ("<script", "<img src=x", "<b>:", "<i>", "<f2>"):
            self.assertNotIn(text, card)


class Package(unittest.TestCase):
    def test_version_is_that_of_the_program(self):
        self.assertEqual(program("--version").split()[1], debrief.__version__)
        done = subprocess.run([sys.executable, "-m", "debrief", "--version"], capture_output=True, text=True, cwd=ROOT / "python")
        self.assertEqual(done.stdout, program("--version"))

    def test_typed(self):
        self.assertTrue((ROOT / "python/debrief/py.typed").exists())
        for path in (ROOT / "python/debrief").glob("*.py"):
            for line in path.read_text().splitlines():
                self.assertFalse(line.lstrip().startswith("def ") and line.rstrip().endswith("):"), f"{path.name}: {line.strip()} has no type")
        if sys.version_info >= (3, 10):
            self.assertIs(typing.get_type_hints(debrief.Run.sql)["return"], debrief.Table)


def other_pythons():
    """Those of Debian beside the one that runs this; each binary once."""
    found = {os.path.realpath(sys.executable)}
    for path in sorted(Path("/usr/bin").glob("python3*")):
        real = os.path.realpath(path)
        if real not in found and path.name.replace("python3", "").replace(".", "").isdigit():
            found.add(real)
            yield str(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only", action="store_true", help="under this Python alone")
    options, rest = parser.parse_known_args()
    os.environ["DEBRIEF_BINARY"] = os.path.abspath(options.binary)
    done = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=0)
    failed = not done.result.wasSuccessful()
    if not options.only and not rest:
        for python in other_pythons():
            print(f"python: again under {python}", file=sys.stderr)
            failed |= subprocess.run([python, __file__, "--binary", options.binary, "--only"]).returncode != 0
    return int(failed)


sys.exit(main())
