#!/usr/bin/env python3
"""Makes the traces of the cases here: a toy job of two ranks, five steps each, as the profiler of PyTorch writes it.

usage: make_traces.py FOLDER

A step: load data (the host), forward (aten::mm, two kernels), backward on the autograd thread (one kernel), all_reduce on a
stream of its own, half of it beside computation, and a synchronising copy. The host of rank 1 does nothing for 3 ms before its
forward, so rank 0 waits for it in every all_reduce.
"""
import json
import sys
from pathlib import Path

STEPS, PERIOD, SLEEP = 5, 10_000, 3_000  # microseconds


class Trace:
    def __init__(self, rank):
        self.rank, self.events, self.id = rank, [], 100
        self.pid, self.main, self.autograd = 1000 + rank, 1000 + rank, 1100 + rank

    def slice(self, category, name, tid, start, duration, pid=None, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": self.pid if pid is None else pid, "tid": tid,
                            "ts": start, "dur": duration, "args": args})

    def launch(self, tid, call_at, call, name, stream, start, duration, category="kernel", **args):
        self.id += 1
        self.slice("cuda_runtime", call, tid, call_at, 8, correlation=self.id)
        self.slice(category, name, stream, start, duration, pid=0, device=0, stream=stream, correlation=self.id, **args)
        return self.id

    def op(self, name, tid, start, duration, **args):
        self.id += 1
        self.slice("cpu_op", name, tid, start, duration, **{"External id": self.id, **args})


def collective(rank, seq):
    return {"Collective name": "allreduce", "Process Group Name": "0", "Process Group Description": "default_pg",
            "Process Group Ranks": "[0, 1]", "Group size": 2, "dtype": "Float", "In msg nelems": 1048576,
            "Out msg nelems": 1048576, "Seq": seq}


def add_step(trace, step):
    begin = 1000 + step * PERIOD
    at = begin + 900 + (SLEEP if trace.rank == 1 else 0)
    trace.slice("user_annotation", f"ProfilerStep#{step + 3}", trace.main, begin, PERIOD - 50)
    trace.slice("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", trace.main, begin + 20, 800)
    shapes = {"Input Dims": [[64, 128], [128, 256]], "Input type": ["float", "float"], "Sequence number": step}
    trace.op("aten::mm", trace.main, at, 60, **shapes)
    trace.launch(trace.main, at + 20, "cudaLaunchKernel", "sm90_gemm_f32", 7, at + 50, 700, grid=[8, 8, 1], block=[128, 1, 1])
    trace.launch(trace.main, at + 40, "cudaLaunchKernel", "elementwise_add", 7, at + 755, 45)
    trace.op("autograd::engine::evaluate_function: MmBackward0", trace.autograd, at + 100, 50, **{"Sequence number": step})
    trace.launch(trace.autograd, at + 120, "cudaLaunchKernel", "sm90_gemm_f32", 7, at + 800, 1400)
    arrive, leave = at + 1500, 1000 + step * PERIOD + 900 + SLEEP + 1500 + 1300  # everybody leaves when the last has come
    trace.op("record_param_comms", trace.main, at + 200, 30, **collective(trace.rank, step + 1))
    trace.launch(trace.main, at + 210, "cudaLaunchKernelExC", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, arrive,
                 leave - arrive, **collective(trace.rank, step + 1))
    trace.id += 1
    trace.slice("cuda_runtime", "cudaStreamSynchronize", trace.main, at + 300, leave + 20 - at - 300, correlation=trace.id)
    trace.launch(trace.main, leave + 40, "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 7, leave + 60, 5,
                 category="gpu_memcpy", bytes=4)
    for offset, sign in ((30, 1), (500, 1), (2500, -1), (2600, -1)):
        trace.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": trace.pid, "tid": trace.main,
                             "ts": at + offset, "args": {"Bytes": sign * 4194304, "Addr": 4096 * (offset % 1000 + 1),
                             "Total Allocated": 8388608 if offset == 500 else 4194304, "Total Reserved": 20971520,
                             "Device Type": 1, "Device Id": 0}})


def trace_of(rank):
    trace = Trace(rank)
    for step in range(STEPS):
        add_step(trace, step)
    group = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": [0, 1]}
    return {"schemaVersion": 1, "record_shapes": 1, "profile_memory": 1,
            "deviceProperties": [{"id": 0, "name": "Toy GPU", "totalGlobalMem": 16777216000, "numSms": 132}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_count": 1, "pg_config": [group]},
            "baseTimeNanoseconds": 1790000000000000000, "traceEvents": trace.events}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(2):
        document = trace_of(rank)
        events = document.pop("traceEvents")
        head = json.dumps(document)[:-1]
        lines = ",\n".join(json.dumps(event) for event in events)
        (folder / f"rank{rank}.json").write_text(f"{head}, \"traceEvents\": [\n{lines}\n]}}\n")


if __name__ == "__main__":
    main()
