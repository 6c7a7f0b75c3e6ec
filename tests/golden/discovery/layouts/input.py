"""Jobs in folders as people have them, with texts of a few lines; dumps are the smallest that are dumps."""
import json
import pathlib

ROOT = pathlib.Path("input")


def write(name, *lines):
    path = ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))


def dump(name, world):
    group = {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}
    entry = {"frames": [], "record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 1,
             "profiling_name": "nccl:all_reduce", "time_created_ns": 1794784879000000000, "input_sizes": [[8]], "input_dtypes": ["Float"],
             "output_sizes": [[8]], "output_dtypes": ["Float"], "state": "completed", "time_discovered_started_ns": None,
             "time_discovered_completed_ns": None, "retired": True, "timeout_ms": 600000, "is_p2p": False}
    write(name, json.dumps({"version": "2.10", "pg_config": {"0": group}, "pg_status": {}, "entries": [entry]}))


def raised(mark, rank):
    return [f"{mark}step 1 loss 4.2", f"{mark}[rank{rank}]: Traceback (most recent call last):", f"{mark}[rank{rank}]: ValueError: bad batch"]


# Two machines with one text each: different ranks speak, so they are nodes of one job.
write("hosts/ip-10-0-3-7/train.log", "[default0]:step 1 loss 4.2", *raised("[default1]:", 1))
write("hosts/ip-10-0-9-44/train.log", "[default0]:step 1 loss 4.2", *raised("[default1]:", 3))
# Two runs: rank 1 speaks in both.
write("runs/tuesday/train.log", "[default0]:step 1 loss 4.2", *raised("[default1]:", 1))
write("runs/wednesday/train.log", "[default0]:step 1 loss 4.2", *raised("[default1]:", 1))
# Names that count within a host; its dumps tell the first rank.
for node in range(2):
    for local in range(2):
        write(f"local_names/h{node}/rank{local}.log", "step 1 loss 4.2")
        dump(f"local_names/h{node}/nccl_trace_rank_{2 * node + local}.json", 4)
# Folders that count ranks.
for rank in range(3):
    write(f"number_folders/logs/{rank}/stderr", *raised("", rank) if rank == 1 else ["step 1 loss 4.2"])
    dump(f"number_folders/logs/{rank}/nccl_trace.json", 3)
# A grid of nodes and their processes; the last two wrote nothing.
for rank in range(4):
    write(f"grid/node{rank // 2}_gpu{rank % 2}.txt", *([] if rank > 1 else ["step 1 loss 4.2"]))
# Times that a terminal put before each line.
lines = ["[default0]:step 1 loss 4.2", "[default1]:step 1 loss 4.2", *raised("[default1]:", 1)]
write("stamped/console.txt", *[f"[2026-11-15 23:22:{9 + i:02d}] {line}" for i, line in enumerate(lines)])
