"""Small inputs for the rules of which no other input of the tests is an example: a function a rule, which writes into a folder."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import host_writer  # noqa: E402
from job_simulator import Pipeline  # noqa: E402
from torch_trace_writer import Log  # noqa: E402

C10D = "/opt/conda/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py"
US = 1.0  # of a Chrome trace


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


# --- outputs of ranks ---

def loss_jump(folder):
    losses = [2.5 - 0.01 * (step % 7) for step in range(30)] + [11.0] * 12
    write(folder / "rank0.log", [f"step {step} loss {loss:.3f}" for step, loss in enumerate(losses)])


def slowed(folder):
    at, lines = 0, []
    for step in range(40):
        at += 1 if step < 28 else 3
        lines.append(f"[2026-11-15 02:{at // 60:02}:{at % 60:02}] step {step} loss 2.500")
    write(folder / "rank0.log", lines)


def gpu_fault(folder):
    for rank in range(4):
        lines = [f"node01:{9000 + rank}:{9000 + rank} [{rank}] NCCL INFO ncclCommInitRank comm 0x55 rank {rank} nranks 4 cudaDev {rank} "
                 f"nvmlDev {rank} busId {rank + 1}b000 commId 0x1 - Init START", *(f"step {step} loss 2.5" for step in range(5))]
        if rank != 2:
            lines.append(f"[rank{rank}]:[E1115 02:46:00.00{rank}000000 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective operation "
                         "timeout: WorkNCCL(SeqNum=6, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=10000) ran for 10001 milliseconds before timing out.")
        write(folder / f"rank{rank}.log", lines)
    write(folder / "dmesg.txt", ["[Sun Nov 15 02:45:50 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=9002, name=python, GPU has fallen off the bus."])


def lost_worker(folder):
    write(folder / "server.log", [f"(Worker_TP{rank} pid={500 + rank}) INFO 11-10 12:00:30 [default_loader.py:268] Loading weights took 12.30 seconds" for rank in range(4)]
          + ["(APIServer pid=1) INFO:     Application startup complete.",
             "(EngineCore_DP0 pid=413) ERROR 11-10 12:30:57 [multiproc_executor.py:231] Worker proc VllmWorker-2 died unexpectedly, shutting down executor.",
             "(APIServer pid=1) ERROR 11-10 12:30:57 [async_llm.py:480] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."])


def stacks_diverge(folder):
    lines = []
    for rank in range(4):
        op, function, line = ("barrier", "save", 88) if rank == 3 else ("all_reduce", "sync_grads", 59)
        lines += [f"=== Rank {rank}: http://n0{rank // 2}:4{rank}233/handler/dump_traceback? ===", "Current thread 0x00007f82998736c0 (most recent call first):",
                  "  <no Python frame>", "", f"Thread 0x00007f000000114{rank} (most recent call first):",
                  f'  File "{C10D}", line {4806 if rank == 3 else 2806} in {op}', f'  File "/home/me/job/train.py", line {line} in {function}',
                  '  File "/home/me/job/train.py", line 130 in <module>', ""]
    for number in range(2):
        write(folder / f"stacks_{number}.txt", lines)


def ras_left(folder):
    write(folder / "ncclras.txt", f"""NCCL version 2.28.9 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      1          8            1          8        8

Communicators... (0.001s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         1         8         8         8   RUNNING  MISMATCH

Errors
======

Warnings
========

#0-0 (d30205294129b289) MISMATCH
  Communicator ranks have different status
  7 ranks have status RUNNING
  Rank 2 has status FINALIZE -- GPU 2 managed by process 902 on node 10.0.0.1
""".splitlines())


# --- Flight Recorder dumps ---

def dump(folder, rank, entries, groups):
    rows = [{"record_id": i, "pg_id": int(group), "process_group": [group, groups[group]["desc"]], "collective_seq_id": seq, "p2p_seq_id": 0, "op_id": i + 1,
             "profiling_name": f"nccl:{name}", "is_p2p": False, "time_created_ns": 1_794_710_544_000_000_000 + i * 1_000_000_000, "input_sizes": [[8]],
             "input_dtypes": ["Float"], "output_sizes": [[8]], "output_dtypes": ["Float"], "state": state, "retired": state == "completed",
             "time_discovered_started_ns": None, "timeout_ms": 600000, "time_discovered_completed_ns": None,
             "frames": [{"name": "step", "filename": "train.py", "line": line}]} for i, (group, seq, name, state, line) in enumerate(entries)]
    write(folder / f"nccl_trace_rank_{rank}.json", [json.dumps({"version": "2.10", "pg_config": groups, "entries": rows})])


def deadlock(folder):
    groups = {str(number): {"name": str(number), "desc": desc, "ranks": "[0, 1]"} for number, desc in ((1, "data"), (2, "experts"))}
    for rank, (first, line) in enumerate((("1", 20), ("2", 31))):
        dump(folder, rank, [("1", 1, "all_reduce", "completed", 10), ("2", 1, "all_to_all", "completed", 11), (first, 2, "all_reduce", "scheduled", line)], groups)


# --- profiles ---

class Trace:
    """A timeline of one rank: calls of the host and work on stream 7, times in microseconds."""

    def __init__(self, rank=0, size=1, **properties):
        self.rank, self.size, self.events, self.id = rank, size, [], 0
        self.properties = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 1 << 30, **properties}]

    def slice(self, category, name, at, length, pid=100, tid=100, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": at * US, "dur": length * US, "args": args})

    def step(self, number, at, length):
        self.slice("user_annotation", f"ProfilerStep#{number}", at, length)

    def kernel(self, called, name, at, length, call="cudaLaunchKernel", stream=7, **args):
        self.id += 1
        self.slice("cuda_runtime", call, called, 4, correlation=self.id)
        self.slice("kernel", name, at, length, pid=0, tid=stream, device=0, stream=stream, correlation=self.id, **args)

    def write(self, folder):
        info = {"backend": "nccl", "rank": self.rank, "world_size": self.size}
        content = {"schemaVersion": 1, "deviceProperties": self.properties, "distributedInfo": info, "traceEvents": self.events}
        write(folder / f"rank{self.rank}.pt.trace.json", [json.dumps(content)])


def data_loading(folder):
    trace = Trace()
    for step in range(14):
        at = step * 10_000
        trace.step(step, at, 9_950)
        trace.slice("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 10, 6_000)
        trace.slice("cpu_op", "aten::mm", at + 6_100, 100)
        trace.kernel(at + 6_120, "sm90_gemm_f32", at + 6_150, 3_500)
    trace.write(folder)


def sync_in_loop(folder):
    trace = Trace()
    for step in range(14):
        at = step * 10_000
        trace.step(step, at, 9_950)
        for part in range(4):
            begin = at + 100 + part * 2_400
            trace.slice("cpu_op", "aten::mm", begin, 60)
            trace.kernel(begin + 10, "sm90_gemm_f32", begin + 20, 1_200)
            trace.slice("cpu_op", "aten::item", begin + 80, 2_200)
            trace.slice("cuda_runtime", "cudaStreamSynchronize", begin + 90, 2_180, correlation=90_000 + step * 10 + part)
    trace.write(folder)


def tiny_kernels(folder):
    trace = Trace()
    for step in range(14):
        at = step * 10_000
        trace.step(step, at, 9_950)
        for part in range(500):
            begin = at + 20 + part * 18
            trace.slice("cpu_op", "aten::add", begin, 12)
            trace.kernel(begin + 2, "vectorized_elementwise_kernel", begin + 9, 3)
    trace.write(folder)


def low_bandwidth_group(folder):
    groups = [[0, 1], [2, 3], [4, 5], [6, 7]]
    for number, ranks in enumerate(groups):
        for rank in ranks:
            trace = Trace(rank, 8)
            for step in range(8):
                at = step * 10_000
                trace.step(step, at, 9_950)
                about = {"Collective name": "allreduce", "Process Group Name": str(number + 1), "Process Group Description": "mesh_dp",
                         "Process Group Ranks": str(ranks), "Group size": 2, "dtype": "Float", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "Seq": step + 1}
                trace.slice("cpu_op", "record_param_comms", at + 100, 30, **about)
                trace.kernel(at + 110, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 200, 4_000 if number == 2 else 1_000 + step, stream=20, **about)
            trace.write(folder)


def near_capacity(folder):
    trace = Trace(totalGlobalMem=1 << 30)
    trace.step(0, 0, 9_000)
    for i in range(8):
        held = (i + 1) * 125 * (1 << 20)
        trace.slice("cpu_op", "aten::empty", 100 + i * 1_000, 50)
        trace.kernel(110 + i * 1_000, "sm90_gemm_f32", 200 + i * 1_000, 300)
        trace.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100, "ts": 120 + i * 1_000,
                             "args": {"Total Reserved": held, "Total Allocated": held, "Bytes": 125 * (1 << 20), "Addr": 4096 + held, "Device Id": 0, "Device Type": 1}})
    trace.write(folder)


def room(folder):
    """64 activations of 1 GiB that the backward frees, on a device of 66 GiB."""
    trace = Trace(totalGlobalMem=66 << 30)
    trace.step(0, 0, 20_000)

    def change(at, number, sign):
        trace.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100, "ts": at,
                             "args": {"Total Reserved": 65 << 30, "Total Allocated": (number if sign > 0 else number - 1) << 30, "Bytes": sign << 30,
                                      "Addr": number << 12, "Device Id": 0, "Device Type": 1}})
    for i in range(64):
        trace.slice("cpu_op", "aten::relu", 100 + i * 100, 50)
        trace.kernel(110 + i * 100, "relu_kernel", 130 + i * 100, 60)
        change(120 + i * 100, i + 1, 1)
    for i in range(64):
        trace.slice("cpu_op", "autograd::engine::evaluate_function: ReluBackward0", 10_000 + i * 100, 50)
        trace.kernel(10_010 + i * 100, "relu_backward_kernel", 10_030 + i * 100, 60)
        change(10_020 + i * 100, 64 - i, -1)
    trace.write(folder)


def odd_size(folder):
    """A vocabulary of 50257: 8 ms for what takes 0.2 at the peak."""
    trace = Trace(name="NVIDIA H200", totalGlobalMem=141 << 30)
    trace.step(0, 0, 20_000)
    shapes = {"Input Dims": [[1024, 768], [768, 50257]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", ""]}
    for i in range(2):
        trace.slice("cpu_op", "aten::mm", 100 + i * 9_000, 50, **shapes)
        trace.kernel(110 + i * 9_000, "cutlass_80_wmma_tensorop_bf16_s161616gemm", 200 + i * 9_000, 8_000)
    trace.write(folder)


# --- records of monitors ---

def steps_of(folder, ranks):
    for rank in range(ranks):
        write(folder / f"rank{rank}.log", [f"step {step} loss 2.5" for step in range(5)])


def counters(folder, name, values, usual=0):
    steps_of(folder, 4)
    result = [host_writer.series(name, gpu, values if gpu == 3 else [usual] * len(values)) for gpu in range(4)]
    (folder / "dcgm.json").write_text(host_writer.answer(result))


def ecc_errors(folder):
    counters(folder, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", [0, 0, 2, 2])


def nvlink_errors(folder):
    counters(folder, "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", [0, 4000, 9000, 15000])


def hot_gpu(folder):
    counters(folder, "DCGM_FI_DEV_GPU_TEMP", [70, 82, 88, 87], 62)


def full_memory(folder):
    steps_of(folder, 4)
    result = [host_writer.series(f"DCGM_FI_DEV_FB_{name}", gpu, [used if gpu == 3 else 40000] * 4) for gpu in range(4) for name, used in (("USED", 81400), ("FREE", 100))]
    (folder / "dcgm.json").write_text(host_writer.answer(result))


def idle_first(folder):
    steps_of(folder, 4)
    (folder / "dcgm.json").write_text(host_writer.dcgm(4, idle=3))


def first_to_stop(folder):
    for rank in range(4):
        (folder / f"n1-pid{4700 + rank}.log").write_text(host_writer.inspector(rank, 4, 12 if rank == 2 else 30))


def links(folder, transports):
    for rank, transport in enumerate(transports):
        write(folder / f"rank{rank}.log", host_writer.nccl_info(rank, len(transports), transport))


def no_gdr(folder):
    links(folder, ["NET/IB/0/GDRDMA"] * 5 + ["NET/IB/0"])


def shared_memory(folder):
    links(folder, ["P2P/CUMEM"] * 3 + ["SHM/direct/direct"])


# --- ops ---

def uneven(folder):
    ops = [{"step": step, "operation": "matmul", "device_id": f"gpu:{device}", "input_shapes": [[64, 64]], "output_shape": [64, 64],
            "duration_us": 900.0 if device == 1 else 100.0, "memory_bytes": 16384} for step in range(4) for device in range(4)]
    write(folder / "ops.json", [json.dumps({"trace_id": "uneven", "entries": ops, "metadata": {}})])


# --- compile logs ---

def recompile_limit(folder):
    log = Log()
    log.string("/home/user/train.py", 0).string("/home/user/model.py", 1)
    for number in range(8):
        log.start((0, number, 0))
        reason = {} if number == 0 else {"recompile_reason": f"0/{number - 1}: tensor 'x' size mismatch at index 0. expected {7 + number}, actual {8 + number}"}
        log.metrics((0, number, 0), **reason)
    (folder / "dedicated_log_torch_trace_0.log").write_bytes(log.bytes())


def long_stage(folder):
    job = Pipeline(ranks=8, steps=5)
    job.kernel_ns, job.stage_times = 2_000_000, {2: 1.5}
    job.run().write(folder)


CASES = {"text_hang.engine": lost_worker, "text_progress.loss_jump": loss_jump, "text_progress.slowed": slowed, "text_hang.gpu_fault": gpu_fault,  "text_stacks.diverges": stacks_diverge, "text_ras.left": ras_left, "flight.deadlock": deadlock, "profile.data_loading": data_loading,
         "profile.sync_in_loop": sync_in_loop, "profile.tiny_kernels": tiny_kernels, "profile.low_bandwidth_group": low_bandwidth_group,
         "memory.near_capacity": near_capacity, "memory_fit.room": room, "profile.odd_size": odd_size, "load_balance.uneven": uneven, "host_gpus.ecc": ecc_errors, "host_gpus.nvlink": nvlink_errors, "host_gpus.hot": hot_gpu,
         "host_gpus.memory_full": full_memory, "host_gpus.idle_first": idle_first, "host_bandwidth.first_to_stop": first_to_stop, "host_links.no_gdr": no_gdr,
         "host_links.shared_memory": shared_memory, "compile.recompile_limit": recompile_limit, "what_if.long_stage": long_stage}

# Rules that no small input is an example of, and why.
WITHOUT = {
    "accel.clock_violation": "needs a device whose clock fails in a way that no recorded one did; the unit tests have it",
    "accel.gapped_events": "as accel.clock_violation",
    "accel.stretched_events": "as accel.clock_violation",
    "compile.log_dominated": "speaks of logs above 100 MB only",
    "cost.compiled_share": "needs a profile and the compile log of the same run; no recorded job with both spends enough time in compiled regions",
    "memory.fragmentation": "needs a snapshot of a full device; the unit tests have it",
    "recording_end.closed_inside": "needs a recorder that was closed by another thread; the unit tests have it",
    "text_weight.large_output": "speaks of outputs above 100 MB only",
    "verdict.job_failed": "the last resort: on every input of the tests another rule says more",
    "verdict.process_ended": "needs an exit code that only a process list has; on inputs of the tests text_hang.died says more",
}
