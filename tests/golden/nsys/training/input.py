"""Writes an export of one rank of a job that trains: three steps with ops, launches, kernels, copies, NCCL, and everything else that is read."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import DOMAIN, MARK, START_END, NsysExport  # noqa: E402

US, STEP = 1000, 1_000_000
MAIN, WORKER = 4711, 4720


def step(export, process, number, correlation):
    at = number * STEP
    export.nvtx(process, MAIN, f"ProfilerStep#{number}", at, at + 900 * US)
    export.nvtx(process, MAIN, f"aten::linear, seq = {number}, op_id = {correlation}, sizes = [[8, 16], [32, 16]]", at + 10 * US, at + 60 * US)
    export.call(process, MAIN, "cudaLaunchKernel_v7000", at + 20 * US, at + 30 * US, correlation)
    export.kernel(process, "void gemm<float, 128>(float*, int)", at + 40 * US, at + 400 * US, correlation=correlation, grid=(8, 4, 1), block=(128, 2, 1), shared=4096)
    export.call(process, MAIN, "cudaMemcpyAsync_v3020", at + 70 * US, at + 80 * US, correlation + 1)
    export.copy(process, at + 400 * US, at + 450 * US, 1 << 20, kind=1, source=1, target=2, correlation=correlation + 1)
    export.nvtx(process, MAIN, "ncclAllReduce", at + 90 * US, at + 120 * US, domain=1, by_id=True, json='{"Message size [bytes]": 4194304, "Reduction": 0}')
    export.call(process, MAIN, "cuLaunchKernelEx", at + 100 * US, at + 110 * US, correlation + 2, driver=True)
    export.kernel(process, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at + 420 * US, at + 700 * US, stream=20,
                  correlation=correlation + 2, grid=(24, 1, 1), block=(544, 1, 1))
    export.call(process, MAIN, "cudaStreamSynchronize_v3020", at + 130 * US, at + 700 * US, correlation + 3)
    export.sync(process, at + 130 * US, at + 700 * US, 3, stream=7, correlation=correlation + 3)


def write(path, schema="3.24.0"):
    export = NsysExport(path, schema=schema, environment={"RANK": 3, "WORLD_SIZE": 8, "LD_PRELOAD": "{}"})
    process = export.process(4711, "python3.11", threads={MAIN: "python3.11", WORKER: "pt_data_worker"})
    export.gpu(0, 3, "NVIDIA H200")
    export.gpu(3, 0, "NVIDIA H200")
    export.nvtx(process, MAIN, "NCCL", 0, None, kind=DOMAIN, domain=1)
    for number in range(3):
        step(export, process, number, 100 + 10 * number)
    export.fill(process, 3 * STEP, 3 * STEP + 5 * US, 4096)
    export.sync(process, 3 * STEP, 3 * STEP + 10 * US, 4)
    export.graph(process, 9, 3 * STEP + 20 * US, 3 * STEP + 90 * US, correlation=200)
    export.call(process, MAIN, "cudaGraphLaunch_v10000", 3 * STEP + 11 * US, 3 * STEP + 15 * US, 200)
    export.call(process, MAIN, "cudaEventQuery_v3020", 3 * STEP + 16 * US, 3 * STEP + 17 * US, 201, returned=600)
    export.nvtx(process, MAIN, "checkpoint", 3 * STEP + 20 * US, None, kind=MARK)
    export.nvtx(process, WORKER, "prefetch", STEP, 2 * STEP, kind=START_END)
    export.nvtx(process, WORKER, "load", 3 * STEP, None)
    export.system_call(process, WORKER, "poll", 0, 3 * STEP)
    export.system_call(process, WORKER, "start", 0, 0, kind=31)
    export.overhead(process, MAIN, "TLS allocation", 3 * STEP + 91 * US, 3 * STEP + 95 * US)
    export.close()


if __name__ == "__main__":
    Path("input").mkdir()
    write("input/report.sqlite")
