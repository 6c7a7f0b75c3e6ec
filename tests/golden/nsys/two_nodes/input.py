"""Writes the exports of two nodes, on each of which a launcher with two ranks was recorded as a whole."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

Path("input").mkdir()
for node in range(2):
    export = NsysExport(f"input/node{node}.sqlite", host=f"node{node}", environment={"SLURM_PROCID": node, "SLURM_NTASKS": 2})
    for device in range(2):
        process = export.process(4000 + 10 * node + device, device=device)
        export.kernel(process, "gemm", 1000, 2000, device=device)
    export.close()
