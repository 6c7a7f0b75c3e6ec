"""Writes the exports of two ranks: CUDA fails on rank 1, then on rank 0; a call that ran out of memory before was recovered from."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

US = 1000
Path("input").mkdir()
for rank, failed_at in enumerate((900 * US, 700 * US)):
    export = NsysExport(f"input/report.{rank}.sqlite", environment={"RANK": rank, "WORLD_SIZE": 2})
    process = export.process(5000 + rank)
    export.call(process, 5000 + rank, "cudaMalloc_v3020", 0, 10 * US, 1, returned=2)
    export.call(process, 5000 + rank, "cudaLaunchKernel_v7000", 20 * US, 30 * US, 2)
    export.kernel(process, "gather", 40 * US, 60 * US, correlation=2)
    export.call(process, 5000 + rank, "cudaStreamSynchronize_v3020", failed_at, failed_at + 5 * US, 3, returned=700)
    export.call(process, 5000 + rank, "cudaFree_v3020", failed_at + 10 * US, failed_at + 11 * US, 4, returned=700)
    export.close()
