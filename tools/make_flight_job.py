#!/usr/bin/env python3
"""Writes the Flight Recorder dumps of a job of very many ranks, quickly: a gigabyte in seconds.

usage: make_flight_job.py OUT [--ranks N] [--entries M] [--tp T] [--pp P] [--fault none|stuck|size] [--fault-rank R]
                          [--frames F] [--only FIRST:LAST] [--seed S]

All ranks run one program on a mesh (tensor parallel fastest, then data parallel, then stages), so their dumps differ in
the names and members of their groups, in times, and in how far they came: one template for each state is pickled, and
what differs is put into it. With a fault, everybody who needs the rank is held up where they first need it:
  stuck  the rank never issues one tp collective, nor anything after it
  size   the rank issues one dp collective with twice the size, which then never completes
--only writes ranks FIRST to LAST - 1 alone, so a job larger than the disk can be written and read in pieces.
The last line printed is the truth as JSON.
"""
import argparse
import json
import pickle
import random
import struct
from pathlib import Path

HIDDEN, SEQUENCE = 4096, 2048
LAYERS, MICROBATCHES, RUN_AHEAD = 4, 4, 3
START_NS, STEP_NS = 1_750_000_000_000_000_000, 1_000_000
MARKER_NS = 1_600_000_000_000_000_000    # times of templates: MARKER_NS + 2 * entry, one more for the completion
KINDS = {"world": "default_pg", "tp": "mesh_tp", "dp": "mesh_dp", "pp": "mesh_pp"}


class Mesh:
    """Who is in which group; groups are numbered as a program that makes them in this order numbers them."""

    def __init__(self, ranks, tp, pp):
        assert ranks % (tp * pp) == 0, "ranks must be a multiple of tp * pp"
        self.ranks, self.tp, self.pp, self.dp = ranks, tp, pp, ranks // (tp * pp)
        self.texts = {}

    def group(self, rank, kind):
        """(name, first member, distance of members, number of members)"""
        t, d, p = rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)
        if kind == "world":
            return 0, 0, 1, self.ranks
        if kind == "tp":
            return 1 + p * self.dp + d, rank - t, 1, self.tp
        if kind == "dp":
            return 1 + self.pp * self.dp + p * self.tp + t, rank - d * self.tp, self.tp, self.dp
        return (1 + self.pp * (self.dp + self.tp) + d * self.tp + t, t + d * self.tp, self.tp * self.dp, self.pp)

    def members(self, rank, kind):
        _, first, distance, count = self.group(rank, kind)
        return range(first, first + distance * count, distance)

    def members_text(self, rank, kind):
        key = self.group(rank, kind)
        if key not in self.texts:
            self.texts[key] = str(list(self.members(rank, kind))).encode()
        return self.texts[key]


def program(mesh, entries):
    """The ops of every rank: (kind of group, op, input sizes, output sizes, dtype, call site)."""
    ops = []
    whole, part = [SEQUENCE, 1, HIDDEN], [SEQUENCE // mesh.tp or 1, 1, HIDDEN]
    while len(ops) < entries:
        for phase in ("fwd", "bwd"):
            for _ in range(MICROBATCHES):
                if mesh.pp > 1:
                    ops.append(("pp", "broadcast", whole, whole, "BFloat16", phase + "_pp"))
                for _ in range(LAYERS):
                    ops.append(("tp", "_all_gather_base", part, whole, "BFloat16", phase + "_gather"))
                    ops.append(("tp", "_reduce_scatter_base", whole, part, "BFloat16", phase + "_scatter"))
        ops += [("dp", "_reduce_scatter_base", [mesh.dp * 1000000], [1000000], "Float", "gradients")] * 4
        ops += [("dp", "_all_gather_base", [1000000], [mesh.dp * 1000000], "BFloat16", "parameters")] * 4
        ops.append(("world", "all_reduce", [1], [1], "Float", "norm"))
    return ops[:entries]


def held_up(mesh, ops, fault, rank, at):
    """How many ops each rank that is held up completed: everybody who needs one of them stops there, too."""
    if fault == "none":
        return {}
    blocked = {}
    for index in range(at, len(ops)):
        kind = ops[index][0]
        reached = {mesh.group(other, kind): other for other in blocked}
        if index == at:
            reached[mesh.group(rank, kind)] = rank
        for member in reached.values():
            for other in mesh.members(member, kind):
                blocked.setdefault(other, index)
        if len(blocked) == mesh.ranks:
            break
    return blocked


class Templates:
    """Pickled dumps with marks where ranks differ."""

    def __init__(self, ops, frames):
        self.ops, self.known = ops, {}
        self.common = [self.frame("common", number) for number in range(3, max(3, frames))]
        self.sites = {site: [self.frame(site, number) for number in range(min(3, frames))]
                      for site in {op[5] for op in ops}}

    @staticmethod
    def frame(name, number):
        return {"name": f"{name}_{number}", "filename": f"/opt/train/pkg/module_{number % 7}.py", "line": 100 + number}

    def get(self, issued, completed, wrong):
        """(pieces between the marks in the order of marks, body of entries, where its times are)"""
        key = issued, completed, wrong
        if key not in self.known:
            self.known[key] = self.make(issued, completed, wrong)
        return self.known[key]

    def make(self, issued, completed, wrong):
        names = {kind: f"@{kind}_name@" for kind in KINDS}
        counts = dict.fromkeys(KINDS, 0)
        done = {kind: sum(op[0] == kind for op in self.ops[:completed]) for kind in KINDS}
        entries = [self.entry(index, names, counts, index < completed, index == wrong) for index in range(issued)]
        dump = {"version": "2.10",
                "pg_config": {names[kind]: {"name": names[kind], "desc": KINDS[kind], "ranks": f"@{kind}_ranks@"}
                              for kind in KINDS},
                "comm_lib_version": "2.27.5",
                "pg_status": {str(number): {"last_enqueued_collective": counts[kind] or -1, "last_started_collective": -1,
                                            "last_completed_collective": done[kind] or -1}
                              for number, kind in enumerate(KINDS)},
                "entries": entries}
        data, pieces = pickle.dumps(dump, protocol=2), []
        for kind in KINDS:
            for mark in (f"@{kind}_name@", f"@{kind}_ranks@"):
                before, data = data.split(b"X" + struct.pack("<I", len(mark)) + mark.encode())
                pieces.append(before)
        times = []
        for index in range(issued):
            for late in (0, 1) if index < completed else (0,):
                marker = b"\x8a\x08" + struct.pack("<q", MARKER_NS + 2 * index + late)
                times.append((data.index(marker, times[-1][0] if times else 0) + 2, index, late * 900_000))
        return pieces, data, times

    def entry(self, index, names, counts, completed, wrong):
        kind, op, inputs, outputs, dtype, site = self.ops[index]
        counts[kind] += 1
        scale = 2 if wrong else 1
        return {"frames": self.sites[site] + self.common, "record_id": index, "pg_id": list(KINDS).index(kind),
                "process_group": tuple([names[kind], KINDS[kind]]), "thread_name": "pt_main_thread",
                "thread_id": "139840000000000", "collective_seq_id": counts[kind], "p2p_seq_id": 0, "op_id": counts[kind],
                "profiling_name": "nccl:" + op, "time_created_ns": MARKER_NS + 2 * index,
                "input_sizes": [[scale * inputs[0], *inputs[1:]]], "input_dtypes": [dtype],
                "output_sizes": [[scale * outputs[0], *outputs[1:]]], "output_dtypes": [dtype],
                "state": "completed" if completed else "scheduled", "time_discovered_started_ns": None,
                "time_discovered_completed_ns": MARKER_NS + 2 * index + 1 if completed else None,
                "retired": completed, "timeout_ms": 600000, "is_p2p": False}


def dump_of(mesh, rank, template, jitter):
    pieces, body, times = template
    out = bytearray()
    marks = iter(pieces)
    for kind in KINDS:
        for text in (b"%d" % mesh.group(rank, kind)[0], mesh.members_text(rank, kind)):
            out += next(marks) + b"X" + struct.pack("<I", len(text)) + text
    base = len(out)
    out += body
    for at, index, late in times:
        noise = jitter[(rank * 7919 + index * 104729) % len(jitter)]
        struct.pack_into("<q", out, base + at, START_NS + index * STEP_NS + noise + late)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--tp", type=int, default=8)
    parser.add_argument("--pp", type=int, default=4)
    parser.add_argument("--fault", choices=["none", "stuck", "size"], default="none")
    parser.add_argument("--fault-rank", type=int, default=0)
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=17)
    args = parser.parse_args()
    mesh = Mesh(args.ranks, args.tp, args.pp)
    ops = program(mesh, args.entries)
    kind = "dp" if args.fault == "size" else "tp"
    places = [index for index, op in enumerate(ops) if op[0] == kind]
    at = places[len(places) * 7 // 10]
    blocked = held_up(mesh, ops, args.fault, args.fault_rank, at)
    templates = Templates(ops, args.frames)
    numbers = random.Random(args.seed)
    jitter = [numbers.randrange(50_000) for _ in range(4099)]
    first, last = map(int, args.only.split(":")) if args.only else (0, args.ranks)
    args.out.mkdir(parents=True, exist_ok=True)
    written = 0
    for rank in range(first, last):
        completed = blocked.get(rank, len(ops))
        issued = min(len(ops), completed + 1 + RUN_AHEAD) if blocked else completed
        if args.fault == "stuck" and rank == args.fault_rank:
            issued = at
        wrong = at if args.fault == "size" and rank == args.fault_rank else -1
        dump = dump_of(mesh, rank, templates.get(issued, completed, wrong), jitter)
        (args.out / f"nccl_trace_rank_{rank}").write_bytes(dump)
        written += len(dump)
    print(json.dumps({"fault": args.fault, "rank": args.fault_rank, "group": KINDS[kind], "op": ops[at][1],
                      "seq": sum(op[0] == kind for op in ops[:at + 1]), "bytes": written}))


if __name__ == "__main__":
    main()
