"""Exports that were made to harm: views and computed columns in place of tables, texts for numbers, times that overflow, names without end."""
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

Path("input").mkdir()
LAST = 2**63 - 1


def with_odd_rows(path):
    export = NsysExport(path)
    process = export.process(7000)
    export.kernel(process, "good", 1000, 2000)
    export.kernel(process, "<script>\x1b[31m\u202e" + "x" * 5000, 2000, 3000)
    for start, end in ((LAST, LAST), (-LAST, LAST), (5000, 4000), (0, LAST), ("now", "later")):
        export.kernel(process, "no time", start, end)
    export.kernel(process, "odd place", 3000, 4000, stream=LAST, device=-LAST, grid=(LAST, LAST, 2), block=(0, -1, 1), correlation=LAST)
    export.nvtx(process, 7000, "aten::x, seq = 99999999999999999999, sizes = [[[[", 0, 10)
    export.nvtx(process, 7000, ", seq = ", 0, None)
    export.call(-1, 0, "cudaFree_v", 0, 10, returned=LAST)
    export.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 0")
    export.db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = {LAST} WHERE rowid = 1")
    export.close()


def with_views(path):
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT * FROM n;
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, x INTEGER, end AS (length(hex(zeroblob(400000000)))), globalTid);
        CREATE TABLE OSRT_API (start, end, PRIMARY KEY (start)) WITHOUT ROWID;
        CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(text);
        INSERT INTO OSRT_API VALUES (1, 2);
        PRAGMA user_version = 7;""")
    database.close()


with_odd_rows("input/rank0.sqlite")
with_views("input/rank1.sqlite")
Path("input/rank2.sqlite").write_bytes(b"SQLite format 3\0" + b"StringIds" * 50)
Path("input/rank3.sqlite").write_bytes(b"SQLite format 3\0")
