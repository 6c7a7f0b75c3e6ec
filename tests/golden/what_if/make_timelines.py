#!/usr/bin/env python3
"""Writes the inputs of the goldens beside it: timelines of jobs of 2 replicas x 2 stages, with 4 micro-batches in each of 3 steps.

usage: make_timelines.py

A pipeline of one forward and one backward at a time, simulated: an op begins when what it waits for has ended, a transfer when both
of its ends have come. One worker, the last stage or some micro-batches take longer.
"""
import json
from pathlib import Path

REPLICAS, STAGES, MICROBATCHES, STEPS = 2, 2, 4, 3
FORWARD, BACKWARD, TRANSFER, SYNC = 10_000, 20_000, 200, 3_000  # microseconds
LANES = {"compute": 0, "pp-comm": 1, "tp-comm": 2, "dp-comm": 3, "misc": 4}


def schedule(stage):
    """(direction, micro-batch) in the order of one forward, one backward."""
    warm_up = min(STAGES - 1 - stage, MICROBATCHES)
    order = [("forward", i) for i in range(warm_up)]
    for i in range(MICROBATCHES):
        order += [("forward", warm_up + i)] if warm_up + i < MICROBATCHES else []
        order.append(("backward", i))
    return order


def simulate(cost):
    """[(start, duration, name, replica, stage, step, micro-batch, number)] of all steps; `cost(direction, replica, stage, step, micro-batch)`."""
    events, begin = [], 0
    for step in range(STEPS):
        ended = {(d, s): begin + SYNC for d in range(REPLICAS) for s in range(STAGES)}
        sent, posted, todo = {}, {}, {worker: schedule(worker[1]) for worker in ended}
        for d, s in ended:
            events.append((begin, SYNC, "params-all-gather", d, s, step, -1, 0))
        while any(todo.values()):
            for (d, s), order in todo.items():
                if not order:
                    continue
                direction, microbatch = order[0]
                source = s - 1 if direction == "forward" else s + 1
                start = ended[d, s]
                if 0 <= source < STAGES:
                    if (d, source, direction, microbatch) not in sent:
                        continue
                    # A receive is posted when the computing before it is done.
                    meet = max(sent[d, source, direction, microbatch], posted.get((d, s, direction), begin))
                    events.append((meet, TRANSFER, f"{direction}-send", d, source, step, microbatch, microbatch))
                    events.append((meet, TRANSFER, f"{direction}-recv", d, s, step, microbatch, microbatch))
                    start = max(start, meet + TRANSFER)
                order.pop(0)
                length = cost(direction, d, s, step, microbatch)
                ended[d, s] = start + length
                events.append((start, length, f"{direction}-compute", d, s, step, microbatch, microbatch))
                sent[d, s, direction, microbatch] = posted[d, s, direction] = ended[d, s]
        end = max(ended.values())
        for d, s in ended:
            synced = max(ended[e, s] for e in range(REPLICAS))
            events.append((synced, SYNC, "grads-reduce-scatter", d, s, step, -1, 0))
            events.append((end + SYNC, 100, "optimizer-clip-main-grad", d, s, step, -1, 0))
            events.append((end + SYNC + 100, 2_000, "optimizer", d, s, step, -1, 0))
        begin = (end + SYNC + 2_100) * 11 // 10
    return events


def rank(replica, stage):
    return stage * REPLICAS + replica


def lane(name):
    return "compute" if name.endswith("compute") or name == "optimizer" else "pp-comm" if name.endswith(("send", "recv")) else "dp-comm"


def document(events):
    rows = [{"name": name, "cat": name, "pid": d, "tid": 5 * rank(d, s) + LANES[lane(name)], "ts": start, "dur": length, "ph": "X",
             "args": {"step": 10 + step, "model_chunk": 0 if microbatch >= 0 else -1, "mb_id": microbatch, "seq_id": number}}
            for start, length, name, d, s, step, microbatch, number in events]
    for d in range(REPLICAS):
        rows.append({"name": "process_name", "pid": d, "tid": 0, "ph": "M", "args": {"name": f"DP rank {d}"}})
        for s in range(STAGES):
            rows += [{"name": "thread_name", "pid": d, "tid": 5 * rank(d, s) + number, "ph": "M",
                      "args": {"name": f"PP rank {s}, TP rank 0, {name}"}} for name, number in LANES.items()]
    return rows


def write(case, rows, text=None):
    path = Path(__file__).parent / case / "input" / "timeline.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or "[" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "]\n")


def usual(direction, *_):
    return FORWARD if direction == "forward" else BACKWARD


def main():
    write("healthy", document(simulate(usual)))
    slow = document(simulate(lambda direction, d, s, *_: usual(direction) * (2 if (d, s) == (1, 0) else 1)))
    write("slow_worker", slow)
    write("last_stage", document(simulate(lambda direction, d, s, *_: usual(direction) * (3 if s == 1 else 2) // 2)))
    write("uneven", document(simulate(lambda direction, d, s, step, m: usual(direction) * (1 + 2 * ((d + m + step) % 4 == 0)))))
    write("several", document(simulate(lambda direction, d, s, *_: usual(direction) * (8 if (d, s) in ((0, 0), (1, 1)) else 5) // 5)))
    # A step that lacks an op is left out.
    odd = [row for row in slow if not (row["ph"] == "X" and row["args"]["step"] == 11 and row["name"] == "optimizer" and row["pid"] == 0)]
    write("odd_step", odd)
    hostile = json.loads(json.dumps(slow))
    for number, row in enumerate(row for row in hostile if row["ph"] == "X"):
        row["args"]["seq_id"] = [10**18, -5, "x", None][number % 4] if number % 3 == 0 else row["args"]["seq_id"]
        row["args"]["step"] = 10**17 + number if number % 50 == 0 else row["args"]["step"]
        row["dur"] = -1 if number % 7 == 0 else row["dur"]
    write("hostile", hostile)
    # Of a file that ends early the names at its end are lost, and with them the stages: it cannot be replayed.
    whole = "[" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in slow)
    write("cut", None, whole[:len(whole) * 2 // 3])


main()
