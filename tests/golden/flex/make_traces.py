#!/usr/bin/env python3
"""Writes the inputs of the cases beside it and in ../devices: Flex traces as an AIU's runtime writes them, at 500 MHz.

usage: make_traces.py        (what it writes is committed; run it again after a change)
"""
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
MHZ = 500
PHASES = {"DmaI": 0, "Cmpt Prep": 1, "Cmpt Exec": 2, "DmaO": 3}
FIRST_CYCLE = 4_294_000_000  # the counter wraps 1.9 ms later


def event(name, start, duration, rank, **more):
    """Begin and end of an event of the device, in microseconds."""
    phase = next((number for word, number in PHASES.items() if name.endswith(word)), None)
    cycle = lambda time: (FIRST_CYCLE + round(time * MHZ)) % 2**32
    begins = [start if i <= (phase or 0) else start + duration for i in range(5)]
    attr = {f"TS{i + 1}": hex(cycle(time)) for i, time in enumerate(begins)} | {"Power": hex(round(start))} | more
    edge = lambda ph, time: {"attr": attr, "name": name, "ph": ph, "pid": rank, "tid": 7000 + (phase or 0), "ts": time}
    return [edge("B", start), edge("E", start + duration)]


def host(name, start, duration, rank, tid=1):
    return [{"name": name, "ph": ph, "pid": rank, "tid": tid, "ts": time} for ph, time in (("B", start), ("E", start + duration))]


def iteration(at, rank, slow=1.0):
    """1 ms: data in, two products, a collective with the other rank, data out."""
    coll = {"CollGroup": "AllReduce_all_reduce_1", "Bytes": "4096", "Peer": str(1 - rank), "Type": "SingleCast"}
    return [*host("Execute Graph", at, 900, rank), *host("AIU Roundtrip", at + 5, 890, rank, 2),
            *event("x DmaI", at + 10, 40, rank, Bytes="65536"),
            *event("bmm_1 Cmpt Prep", at + 20, 40, rank), *event("bmm_1 Cmpt Exec", at + 60, 200 * slow, rank),
            *event("softmax_2 Cmpt Prep", at + 30, 30 + 200 * slow, rank), *event("softmax_2 Cmpt Exec", at + 260 * slow, 50, rank),
            *event("SenRdmaSend_3 [sync=AllReduce_all_reduce_1_s0] DmaO", at + 600, 100, rank, **coll),
            *event("y DmaO", at + 800, 20, rank, Bytes="4096")]


def job(rank, slow=1.0, iterations=4):
    return [each for i in range(iterations) for each in iteration(1000 * i, rank, slow)]


def write(path, text):
    path = HERE / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lines(events):
    return "[\n" + ",\n".join(json.dumps(each) for each in events) + "\n]\n"


LOG = """[DeepRT] ===== Perf BEGIN =====
====== Perf Summary ======
~~~~ Ideal/Total Cycles ~~~~
Name                              Ideal Cy.
bmm_1-opCatBmm_fp16                  11000
softmax_2-opCatSoftmax               0
Total                                11000
====== Perf Summary End ======
"""


def main():
    for rank, slow in ((0, 1.0), (1, 1.5)):
        write(f"../devices/two_ranks/input/tp2_rank{rank}_job_1.json", lines(job(rank, slow)))
    write("../devices/two_ranks/input/compiler.log", LOG)
    write("one_file/input/all_ranks.json", lines(job(0) + job(1, 1.5)))
    write("cut/input/tp1_rank0_job_1.json", lines(job(0, iterations=1))[:-600])
    good = [json.dumps(each) for each in event("good Cmpt Exec", 10, 20, 0) + event("fine Cmpt Exec", 40, 20, 0)]
    stamps = '"TS1": "1", "TS2": "1", "TS3": "1", "TS4": "1", "TS5": "1"'
    bad = ['{"name": "three stamps Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": 5, "dur": 1, "attr": {"TS1": "1", "TS2": "2"}}',
           '{"name": "words Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": 5, "dur": 1, "attr": {"TS1": "one", ' + stamps[11:] + '}}',
           '{"name": "no time", "ph": "X", "pid": 0, "tid": 1, "ts": NaN, "dur": 1}',
           '{"name": "a bare " quote", "ph": "X", "pid": 0, "tid": 1, "ts": 5, "dur": 1}',
           '{"name": "no phase", "pid": 0, "tid": 1, "ts": 5}',
           '{"name": "text", "ph": "X", "pid": "host", "tid": "x", "ts": "7", "dur": "1"}']
    write("hostile/input/tp1_rank0_job_1.json", "[\n" + ",\n".join(good[:2] + bad + good[2:]) + "\n]\n")


if __name__ == "__main__":
    main()
