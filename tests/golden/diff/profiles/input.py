"""Writes two jobs of two ranks and four steps each: in the second, the host of rank 1 does nothing for 200 us a step, and rank 0 waits."""
import json
from pathlib import Path

GROUP = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [0, 1]}
STEPS = 4


def slice_(category, name, start, duration, thread, pid=101, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": start, "dur": duration, "args": args}


def step(number, start, rank, pause):
    """Both ranks compute; the all_reduce ends when rank 1 has come, which is late by `pause`."""
    late = pause if rank == 1 else 0
    last, ids = start + 230 + pause, {"correlation": 100 + number}
    talk = {"Collective name": "allreduce", "Process Group Name": "0", "Process Group Description": "default_pg", "Group size": 2,
            "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float", "Seq": number}
    return [slice_("user_annotation", f"ProfilerStep#{number}", start, 480 + pause, 101),
            slice_("cpu_op", "aten::mm", start + 20 + late, 60, 101),
            slice_("cuda_runtime", "cudaLaunchKernel", start + 40 + late, 12, 101, **ids),
            slice_("kernel", "gemm_kernel", start + 110 + late, 100, 7, 0, device=0, stream=7, **ids),
            slice_("cpu_op", "record_param_comms", start + 120 + late, 20, 101, **talk),
            slice_("cuda_runtime", "cudaLaunchKernelExC", start + 125 + late, 10, 101, correlation=200 + number),
            slice_("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", start + 220 + late, last + 150 - start - 220 - late, 20, 0, device=0, stream=20,
                   correlation=200 + number, **talk),
            slice_("cuda_runtime", "cudaDeviceSynchronize", start + 150 + late, last + 160 - start - 150 - late, 101)]


def profile(rank, pause):
    events, start = [], 1000
    for number in range(3, 3 + STEPS):
        events += step(number, start, rank, pause)
        start += 500 + pause + number % 3
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_count": 1, "pg_config": [GROUP]},
            "baseTimeNanoseconds": 1760000000000000000, "traceEvents": events}


for job, pause in (("before", 0), ("after", 200)):
    Path(job).mkdir()
    for rank in (0, 1):
        Path(job, f"profile_rank{rank}.json").write_text(json.dumps(profile(rank, pause)))
