"""Writes an export of one node with two ranks, told apart by their devices, what they printed, and a process without CUDA."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

US = 1000
Path("input").mkdir()
export = NsysExport("input/node.sqlite", host="node7", environment={"SLURM_PROCID": 0})
launcher = export.process(4000, "torchrun", context=False)
export.system_call(launcher, 4000, "waitpid", 0, 1000 * US)
for rank, pid in enumerate((4100, 4101)):
    process = export.process(pid, "python", device=rank)
    for number in range(2):
        at = number * 100 * US
        export.call(process, pid, "cudaLaunchKernel_v7000", at, at + 5 * US, 1 + number)
        export.kernel(process, "gemm", at + 10 * US, at + (50 + 20 * rank) * US, correlation=1 + number, device=rank)
    export.printed(process, f"[rank{rank}]: loss 0.5 at step 1\n")
    export.printed(process, "", stream="stderr")
export.gpu(0, 0)
export.gpu(1, 1)
export.close()
