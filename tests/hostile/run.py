#!/usr/bin/env python3
"""Feeds debrief hostile inputs: each must give its named diagnostic and harm nothing beside it.

usage: run.py [--binary PATH] [PATTERN...]      default: the sanitizer build

Every case is made in an empty folder, next to a good op trace. debrief must end with exit code 0, report
the diagnostic of the table below for the hostile input, import the good one, write nothing outside its
output folder, stay within bounds of memory and time, and give no sanitizer report.
"""
import gzip
import io
import json
import os
import pickle
import random
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402
from as_nobody import for_nobody  # noqa: E402
from nsys_writer import NsysExport  # noqa: E402
from rocpd_writer import Session  # noqa: E402

BOMB_BYTES = 1 << 30
BLANKS = b" " * (1 << 20)
TIMEOUT_S = 60
SQLITE_PAGE = 1024
RSS_LIMIT_MB = 1500

# case: (the hostile file, any of these diagnostics is right)
EXPECTED = {
    "truncated_gzip": ("cut.json.gz", {"gzip.truncated"}),
    "short_gzip_flipped": ("short.json.gz", {"gzip.corrupt", "gzip.truncated"}),
    "tar_gz_wrong_sum": ("sum.tar.gz", {"gzip.corrupt"}),
    "gzip_bomb": ("bomb.json.gz", {"gzip.expands_too_much"}),
    "zip_bomb": ("bomb.zip", {"archive.expands_too_much"}),
    "tar_escape": ("escape.tar", {"archive.unsafe_name"}),
    "deep_nesting": ("deep.json", {"json.unknown", "input.unknown"}),
    "empty": ("empty.json", {"input.empty"}),
    "fifo": ("pipe.json", {"input.not_a_file"}),
    "unreadable": ("secret.json", {"input.unreadable"}),
    "symlink_loop": ("loop", {"input.symlink_loop"}),
    "noise": ("noise.bin", {"input.unknown"}),
    "shrinking": ("shrinks.json", {"input.changed"}),
    "perfetto_cut": ("cut.pftrace", {"perfetto.truncated"}),
    "perfetto_flips": ("flips.pftrace", {"perfetto.bad_packet", "perfetto.gap", "perfetto.truncated"}),
    "perfetto_zlib_bomb": ("bomb.pftrace", {"perfetto.bad_compression"}),
    "perfetto_lengths": ("lengths.pftrace", {"perfetto.gap", "perfetto.truncated"}),
    "nsys_cut": ("cut.sqlite", {"nsys.damaged"}),
    "nsys_circles": ("circles.sqlite", {"nsys.damaged"}),
    "nsys_not_exported": ("report1.nsys-rep", {"nsys.not_exported"}),
    "rocpd_cut": ("1_results.db", {"rocpd.damaged"}),
    "snapshot_cut": ("snapshot.pickle", {"memory_snapshot.truncated"}),
    "snapshot_flipped": ("snapshot.pickle", {"memory_snapshot.corrupt", "memory_snapshot.unsafe"}),
    "snapshot_code": ("snapshot.pickle", {"memory_snapshot.unsafe"}),
    "snapshot_memo": ("snapshot.pickle", {"memory_snapshot.corrupt"}),
    "execution_cut": ("execution.json", {"execution_trace.truncated"}),
    "execution_flipped": ("execution.json", {"execution_trace.bad_node", "execution_trace.truncated"}),
}

# The form of specs of the op trace: what a program that records its operations writes.
GOOD = {"entries": [{"step": step, "operation": "matmul", "device_id": "gpu:0", "input_shapes": [[2, 3], [3, 4]],
                     "output_shape": [2, 4], "duration_us": 12.5, "output_elements": 8, "memory_bytes": 64}
                    for step in range(3)],
        "total_duration_us": 37.5, "metadata": {"model": "toy"}}

# What torch.cuda.memory._dump_snapshot and ExecutionTraceObserver write, with many entries.
SNAPSHOT = {"segments": [{"device": 0, "address": 4096, "total_size": 2 << 20, "allocated_size": 512, "blocks": [
                {"address": 4096, "size": 2 << 20, "state": "inactive", "frames": []}]}],
            "device_traces": [[{"action": "alloc", "addr": 4096 + i, "size": 512, "stream": 0, "time_us": i,
                                "frames": [{"name": "step", "filename": "train.py", "line": i % 7}]} for i in range(3000)]]}
EXECUTION = {"schema": "1.1.1", "pid": 1, "time": "2026-11-15 02:52:40", "start_ts": 1, "nodes": [
    {"id": i, "name": "aten::mm", "ctrl_deps": 1, "inputs": {"shapes": [[2, 3]], "types": ["Tensor(float)"]},
     "attrs": [{"name": "rf_id", "type": "uint64", "value": i}]} for i in range(500)], "finish_ts": 2}


def make_truncated_gzip(path):
    packed = gzip.compress(json.dumps(GOOD).encode() * 50, mtime=0)
    path.write_bytes(packed[:len(packed) // 2])


def make_short_gzip_flipped(path):
    """31 bytes of which one bit is wrong: the stream breaks within what a decoder reads ahead."""
    path.write_bytes(bytes.fromhex("1f8b0800ba41fa6a04ff4b4e4cce584d5148865029f90070780b9a10000000"))


def make_tar_gz_wrong_sum(path):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        content = json.dumps(GOOD).encode()
        member = tarfile.TarInfo("member.json")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    packed = bytearray(gzip.compress(inner.getvalue(), mtime=0))
    packed[-6] ^= 1
    path.write_bytes(packed)


def deflated(block):
    """BOMB_BYTES of a block again and again, as zlib packs them: a packed block that needs nothing before it is repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return once * (BOMB_BYTES // len(block)) + zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()


def checksum(function, block, value):
    for _ in range(BOMB_BYTES // len(block)):
        value = function(block, value)
    return value


def make_gzip_bomb(path):
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + deflated(BLANKS) +
                     struct.pack("<II", checksum(zlib.crc32, BLANKS, 0), BOMB_BYTES & 0xFFFFFFFF))


def make_zip_bomb(path):
    name, packed = b"bomb.json", deflated(BLANKS)
    # What both headers have: version, flags, method, time, date, sum, sizes, length of the name and of extras.
    entry = struct.pack("<HHHHHIIIHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 33, checksum(zlib.crc32, BLANKS, 0), len(packed),
                        BOMB_BYTES, len(name), 0)
    local = b"PK\x03\x04" + entry + name + packed
    central = b"PK\x01\x02" + struct.pack("<H", 20) + entry + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    assert path.stat().st_size < 2 << 20, "a bomb is small"


def make_tar_escape(path):
    with tarfile.open(path, "w") as archive:
        for name in ("../../x", "/tmp/debrief-hostile-x", "a/../../../x.json"):
            content = json.dumps(GOOD).encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def make_deep_nesting(path):
    path.write_bytes(b"[" * 10_000_000)


def make_empty(path):
    path.touch()


def make_fifo(path):
    os.mkfifo(path)


def make_unreadable(path):
    path.write_text(json.dumps(GOOD))
    path.chmod(0)


def make_symlink_loop(path):
    path.mkdir()
    (path / "up").symlink_to("..", target_is_directory=True)
    (path / "self").symlink_to("self")


def make_noise(path):
    path.write_bytes(random.Random(17).randbytes(100_000))


def make_shrinking(path):
    path.write_text(json.dumps(GOOD | {"entries": GOOD["entries"] * 20_000}))


def perfetto_field(number, content):
    """A field of protobuf with bytes in it."""
    def varint(value):
        return bytes([value & 0x7F | 0x80]) + varint(value >> 7) if value > 0x7F else bytes([value])
    return varint(number << 3 | 2) + varint(len(content)) + content


def perfetto_trace():
    return (ROOT / "tests/golden/perfetto/ours/input/profile.pftrace").read_bytes()


def make_perfetto_cut(path):
    path.write_bytes(perfetto_trace()[:-5])


def make_perfetto_flips(path):
    dice = random.Random(29)
    trace = bytearray(perfetto_trace() * 20)
    for _ in range(len(trace) // 100):
        trace[dice.randrange(8, len(trace))] ^= 1 << dice.randrange(8)
    path.write_bytes(trace)


def make_perfetto_zlib_bomb(path):
    """A block of compressed packets that would fill the memory."""
    zeros = bytes(1 << 20)
    packed = b"\x78\xda" + deflated(zeros) + struct.pack(">I", checksum(zlib.adler32, zeros, 1))
    path.write_bytes(perfetto_field(1, perfetto_field(50, packed)))


def make_perfetto_lengths(path):
    """Packets that claim to be longer than the file, at every byte."""
    path.write_bytes(perfetto_trace() + b"\x0a\xff\xff\xff\x7f" * 100_000)


def make_nsys(path):
    """An export with kernels on many pages; returns the page in which their tree begins."""
    export = NsysExport(path, page_size=SQLITE_PAGE)
    process = export.process(4711)
    for number in range(2000):
        export.kernel(process, "gemm", number * 1000, number * 1000 + 500, correlation=number)
    root = export.db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'").fetchone()[0]
    export.close()
    return root


def make_nsys_cut(path):
    make_nsys(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) // 2])


def make_nsys_circles(path):
    """Every way from the first page of a tree leads back to it."""
    root = make_nsys(path)
    pages = bytearray(path.read_bytes())
    begin = (root - 1) * SQLITE_PAGE
    cells, = struct.unpack(">H", pages[begin + 3:begin + 5])
    pages[begin + 8:begin + 12] = struct.pack(">I", root)
    for cell in struct.unpack(f">{cells}H", pages[begin + 12:begin + 12 + 2 * cells]):
        pages[begin + cell:begin + cell + 4] = struct.pack(">I", root)
    path.write_bytes(pages)


def make_nsys_not_exported(path):
    path.write_bytes(bytes(range(256)) * 100)


def make_rocpd_cut(path):
    session = Session(path, page_size=SQLITE_PAGE)
    for number in range(1000):
        session.kernel("gemm", number * 1000, number * 1000 + 500, number + 1)
    session.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) // 2])


def make_snapshot_cut(path):
    path.write_bytes(pickle.dumps(SNAPSHOT, protocol=4)[:-20_000])


def make_snapshot_flipped(path):
    packed = bytearray(pickle.dumps(SNAPSHOT, protocol=4))
    for at in range(30_000, len(packed), 1000):
        packed[at] ^= 0xFF
    path.write_bytes(packed)


def make_snapshot_code(path):
    path.write_bytes(pickle.dumps(SNAPSHOT | {"more": os.getcwd}, protocol=4))


def make_snapshot_memo(path):
    """After 64 MiB of text, a memo number of 2^32 - 1."""
    text = b"x" * (64 << 20)
    path.write_bytes(b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]X\x01\0\0\0tX" +
                     len(text).to_bytes(4, "little") + text + b"r\xff\xff\xff\xffu.")


def make_execution_cut(path):
    path.write_text(json.dumps(EXECUTION)[:-2000])


def make_execution_flipped(path):
    packed = bytearray(json.dumps(EXECUTION).encode())
    for at in range(5000, len(packed) - 5000, 3001):
        packed[at] ^= 0x40
    path.write_bytes(packed)


def run_debrief(binary, folder, case, hostile):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC",
                   "TMPDIR": str(folder / "tmp"), "UBSAN_OPTIONS": "print_stacktrace=1",
                   "ASAN_OPTIONS": f"hard_rss_limit_mb={RSS_LIMIT_MB}:external_symbolizer_path="
                                   "/usr/lib/llvm-19/bin/llvm-symbolizer"}
    if case == "shrinking":
        environment["DEBRIEF_TEST_SHRINK"] = str(hostile)
    preexec_fn = None
    if case == "unreadable":
        binary, preexec_fn = for_nobody(binary, folder.parents[1] / "bin")
    return subprocess.run([binary, "in", "--json", "--no-store", "-o", "out/report"], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                          preexec_fn=preexec_fn)


def listing(folder):
    """What lies there, apart from the output folder and the binary that nobody runs."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                  if not {"out", "bin"} & set(path.relative_to(folder).parts))


def complaints(case, done, hostile, before, after):
    """What is wrong with the outcome."""
    name, wanted = EXPECTED[case]
    if done.returncode != 0:
        return [f"exit code {done.returncode}", done.stderr[-3000:]]
    wrong = []
    if "Sanitizer" in done.stderr or "runtime error" in done.stderr:
        wrong.append(done.stderr[-3000:])
    report = json.loads(done.stdout)
    met = {entry["name"] for entry in report["diagnostics"] if f"in/{name}" in (entry.get("path") or "")}
    if not met & wanted:
        wrong.append(f"no diagnostic {' or '.join(sorted(wanted))} of {name}; met: {sorted(met)}; "
                     f"all: {sorted((entry['name'], entry.get('path')) for entry in report['diagnostics'])[:20]}")
    good = [entry for entry in report["inputs"] if entry["path"] == "in/good.json"]
    if len(good) != 1 or good[0]["state"] != "imported" or not good[0]["rows"]:
        wrong.append(f"the good input was not imported: {good}")
    if before != after:
        wrong.append(f"changed outside the output folder: {sorted(set(before) ^ set(after))}")
    return wrong


def run_case(case, binary, top):
    # Two folders deep, so that ../../x would land in what we look at.
    top.chmod(0o777)
    folder = top / "a" / "b"
    for name in ("in", "out", "tmp"):
        (folder / name).mkdir(parents=True)
    for path in (folder.parent, folder, folder / "out", folder / "tmp"):
        path.chmod(0o777)
    (folder / "in/good.json").write_text(json.dumps(GOOD))
    hostile = folder / "in" / EXPECTED[case][0]
    globals()[f"make_{case}"](hostile)
    before = listing(top)
    done = run_debrief(binary, folder, case, hostile)
    wrong = complaints(case, done, hostile, before, listing(top))
    if Path("/tmp/debrief-hostile-x").exists():
        wrong.append("an absolute name of an archive was written to")
    assert not wrong, "\n".join(wrong)


def main():
    options = in_folders.parser(__doc__, "build/fuzz/debrief").parse_args()
    tests = [(case, lambda top, case=case: run_case(case, options.binary, top)) for case in EXPECTED]
    return in_folders.run_all("hostile", tests, options.patterns)


sys.exit(main())
