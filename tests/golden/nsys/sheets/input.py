"""The export of tests/golden/nsys/training, packed: it is read like one that is not."""
import gzip
import os
import runpy
from pathlib import Path

TRAINING = Path(__file__).resolve().parents[1] / "training/input.py"

runpy.run_path(str(TRAINING))["write"]("report.sqlite")
Path("input").mkdir()
Path("input/report.sqlite.gz").write_bytes(gzip.compress(Path("report.sqlite").read_bytes(), mtime=0))
os.remove("report.sqlite")
