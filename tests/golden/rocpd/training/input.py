"""Writes the database of one rank: calls of HIP, kernels, a copy, ranges of roctx and of RCCL."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from rocpd_writer import Session  # noqa: E402

US = 1000
Path("input").mkdir()
session = Session("input/4711_results.db", environment={"HOME": "/home/user", "RANK": "2", "WORLD_SIZE": "4"})
session.region("ProfilerStep#5", 0, 900 * US, "MARKER_CORE_RANGE_API")
session.region("aten::mm, seq = 7, sizes = [[8, 8], [8, 8]]", 5 * US, 40 * US, "MARKER_CORE_RANGE_API")
session.region("hipLaunchKernel", 10 * US, 20 * US, stack=1)
session.region("hsa_signal_store_relaxed", 12 * US, 13 * US, "HSA_CORE_API", stack=2)
session.kernel("Cijk_gemm", 30 * US, 300 * US, 1)
session.region("hipMemcpyAsync", 50 * US, 55 * US, stack=3)
session.copy(300 * US, 320 * US, 4096, 3)
session.region("ncclAllReduce", 60 * US, 90 * US, "RCCL_API", stack=4)
session.region("hipExtLaunchKernel", 70 * US, 80 * US, stack=5)
session.kernel("ncclDevKernel_Generic_1", 330 * US, 500 * US, 5, stream=1)
session.close()
