"""Writes what monitors leave beside a job: DCGM values out of Prometheus, nvidia-smi sheets, files of NCCL Inspector, sacct, Kubernetes events.

Formats as their writers have them: dcgm-exporter's labels, NCCL plugins/profiler/inspector (v4.0), sacct of Slurm 23.11, the core/v1 Event.
"""
import json

START = 1794709860  # 2026-11-15 02:31:00 UTC
STEP = 15
BUS = ["1b", "29", "45", "4e", "9b", "a9", "c5", "ce"]


def bus_of(gpu):
    return f"00000000:{BUS[gpu % 8].upper()}:00.0"


def series(name, gpu, values, host="n1", start=START):
    return {"metric": {"__name__": name, "gpu": str(gpu), "UUID": f"GPU-{host}-{gpu}", "pci_bus_id": bus_of(gpu), "Hostname": host, "instance": f"{host}:9400",
                       "job": "dcgm"}, "values": [[start + STEP * i, str(value)] for i, value in enumerate(values)]}


def answer(result):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}) + "\n"


def dcgm(gpus=8, samples=40, slow=None, begin=20, xid=None, idle=None, host="n1", code=79):
    """`slow`: a GPU that is throttled by heat from sample `begin` on; `xid`: one that fails there; `idle`: one that does nothing from there on."""
    result = []
    for gpu in range(gpus):
        bad = [i >= begin for i in range(samples)]
        slows = [gpu == slow and each for each in bad]
        idles = [gpu in (idle, xid) and each for each in bad]
        result.append(series("DCGM_FI_DEV_SM_CLOCK", gpu, [1005 if low else 345 if off else 1980 - 15 * (i % 3) for i, (low, off) in enumerate(zip(slows, idles))], host))
        result.append(series("DCGM_FI_DEV_GPU_TEMP", gpu, [89 if low else 61 + gpu % 4 for low in slows], host))
        result.append(series("DCGM_FI_DEV_POWER_USAGE", gpu, [310.5 if low else 75 if off else 640.25 for low, off in zip(slows, idles)], host))
        result.append(series("DCGM_FI_DEV_GPU_UTIL", gpu, [0 if off else 97 + i % 3 for i, off in enumerate(idles)], host))
        result.append(series("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", gpu, [0x40 if low else 1 if off else 4 for low, off in zip(slows, idles)], host))
        result.append(series("DCGM_FI_DEV_XID_ERRORS", gpu, [code if gpu == xid and each else 0 for each in bad], host))
        result.append(series("DCGM_FI_DEV_FB_USED", gpu, [61000] * samples, host))
        result.append(series("DCGM_FI_DEV_FB_FREE", gpu, [20000] * samples, host))
    return answer(result)


def inspector(rank, size=8, collectives=30, late=None, wait=400, host="n1", hash_="7f8c496ae9f661", slow=1.0, name=None, start=START):
    """The file of one process: `late` is the rank that the others wait for, `wait` us each time."""
    lines = []
    for number in range(collectives):
        own = 180 + (number * 7 + rank * 3) % 11
        duration = round(own * slow) if late is None or rank == late else own + wait
        size_bytes = 8 << 20
        bandwidth = size_bytes / duration / 1e3
        header = {"id": f"0x{hash_}", "rank": rank, "n_ranks": size, "nnodes": 1}
        if name:
            header["comm_name"] = name
        lines.append(json.dumps({
            "header": header,
            "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "", "rec_mechanism": "nccl_profiler_interface",
                         "dump_timestamp_us": (start + number) * 10**6 + rank, "hostname": host, "pid": 4700 + rank},
            "coll_perf": {"coll": "AllReduce", "coll_sn": number + 1, "coll_msg_size_bytes": size_bytes, "coll_exec_time_us": duration,
                          "coll_timing_source": "kernel_gpu", "coll_algobw_gbs": round(bandwidth, 6), "coll_busbw_gbs": round(bandwidth * 1.75, 6)}},
            separators=(",", ":")))
    return "\n".join(lines) + "\n"


def write_inspector(folder, size=8, **options):
    for rank in range(size):
        (folder / f"n1-pid{4700 + rank}.log").write_text(inspector(rank, size, **options))


def nccl_info(rank, size, transport, setting="Ring", host=None):
    """Lines of NCCL_DEBUG=INFO of one rank of a ring."""
    head = f"{host or f'n{rank}'}:{9000 + rank}:{9000 + rank} [0] NCCL INFO "
    after, before = (rank + 1) % size, (rank - 1) % size
    return [head + "NCCL_HOSTID set by environment to " + f"h{rank}", head + f"NCCL_ALGO set by environment to {setting}.",
            head + f"ncclCommInitRankConfig comm 0x5{rank} rank {rank} nranks {size} cudaDev 0 nvmlDev 0 busId {BUS[rank % 8]}000 commId 0xabc1 - Init START",
            *([head + "Channel 00/02 : " + " ".join(map(str, range(size)))] if rank == 0 else []),
            head + f"Trees [0] {after}/-1/-1->{rank}->{before} [1] -1/-1/-1->{rank}->{before}",
            *(head + f"Channel {channel:02}/0 : {before}[0] -> {rank}[0] [receive] via {transport}" for channel in range(2)),
            *(head + f"Channel {channel:02}/0 : {rank}[0] -> {after}[0] [send] via {transport}" for channel in range(2)),
            head + "Connected all rings, use ring PXN 0 GDR 1",
            head + f"ncclCommInitRankConfig comm 0x5{rank} rank {rank} nranks {size} cudaDev 0 nvmlDev 0 busId {BUS[rank % 8]}000 commId 0xabc1 - Init COMPLETE"]


def code_of(number, signal=0):
    return {"status": ["ERROR" if number else "SUCCESS"], "return_code": {"set": True, "infinite": False, "number": number},
            "signal": {"id": {"set": bool(signal), "infinite": False, "number": signal}, "name": ""}}


def sacct(state="COMPLETED", code=0, signal=0, step=None, job=4711, reason="None"):
    step = step or state
    return json.dumps({"jobs": [{
        "job_id": job, "name": "train", "nodes": "n[1-2]", "state": {"current": [state], "reason": reason}, "exit_code": code_of(code, signal),
        "time": {"start": START, "end": START + 600, "elapsed": 600},
        "steps": [{"time": {"start": {"set": True, "infinite": False, "number": START}, "end": {"set": True, "infinite": False, "number": START + 599}},
                   "exit_code": code_of(code, signal), "nodes": {"count": 2, "range": "n[1-2]"}, "step": {"id": f"{job}.0", "name": "torchrun"}, "state": [step]}]}],
        "meta": {"slurm": {"version": {"major": "23"}}}, "errors": []}) + "\n"


def event(reason, message, pod="trainer-worker-3", kind="Pod", warning=True):
    return {"kind": "Event", "apiVersion": "v1", "reason": reason, "message": message, "type": "Warning" if warning else "Normal", "count": 1,
            "involvedObject": {"kind": kind, "namespace": "ml", "name": pod}, "lastTimestamp": "2026-11-15T02:31:10Z", "metadata": {"name": f"{pod}.17"}}


def events(*items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items), "metadata": {"resourceVersion": ""}}, indent=1) + "\n"
