"""Writes a database into which the recordings of two ranks were merged."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from rocpd_writer import Session  # noqa: E402

US = 1000
Path("input").mkdir()
for rank in range(2):
    session = Session("input/merged.db", suffix=f"_{rank}abc", pid=5000 + rank, environment={"RANK": str(rank)})
    session.region("hipLaunchKernel", 10 * US, 20 * US, stack=1)
    session.kernel("gemm", 30 * US, (100 + 50 * rank) * US, 1)
    session.close()
