#!/usr/bin/env python3
"""Tests of `debrief bundle`: planted secrets are gone, what is left is read as before, and the verdict is the same.

usage: test_bundle.py [--binary PATH] [--only WORD]

Every function test_* gets an empty folder; one fails by raising.
"""
import gzip
import hashlib
import json
import os
import pickle
import re
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

from planted import KEPT, all_bytes, dump, members, plain_text, wanted_gone, write_job

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import in_folders  # noqa: E402
from recording_writer import Recording  # noqa: E402

BINARY = None  # set by in_folders


def run(*words, cwd, code=0, **environment):
    done = subprocess.run([str(word) for word in (BINARY, *words)], cwd=cwd, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TMPDIR": str(cwd), **environment})
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def findings(path, cwd):
    run(path, "-o", cwd / "out", "--no-store", "--no-report", "--quiet", cwd=cwd)
    return json.loads((cwd / "out/findings.json").read_text())["findings"]


def core(found):
    """What must be the same of a verdict, whatever names were replaced."""
    return [(each["rule"], each["severity"], each["role"], each["ranks"], round(each["confidence"] or 0, 3), each["op"], each["seq"])
            for each in found]


def test_secrets_are_gone(folder):
    write_job(folder / "job")
    done = run("bundle", "job", "-o", "job.tar.zst", cwd=folder, USER="makerplanted", NCCL_DEBUG="plantedEnv_hf_AbCdEfGhIjKlMnOpQrSt")
    assert stat.S_IMODE((folder / "job.tar.zst").stat().st_mode) == 0o600
    leaks = [(kind, name) for name, body in all_bytes(folder / "job.tar.zst") for kind, value in wanted_gone().items()
             if value.encode() in body]
    assert not leaks, leaks
    for name, body in all_bytes(folder / "job.tar.zst"):
        assert b"makerplanted" not in body and b"plantedBinary" not in body, name
    inside = members(folder / "job.tar.zst")
    text = inside["rank0.log"].decode()
    assert [line for line in KEPT if line not in text] == [], text
    left = json.loads(inside["debrief_bundle/manifest.json"])["left_out"]
    assert {each["name"] for each in left} == {"id_rsa", "random.bin"}, left
    replaced = json.loads(inside["debrief_bundle/manifest.json"])["replaced"]
    for kind in ("token", "password", "private key", "credentials in an address", "e-mail address", "user name", "host name", "IP address"):
        assert replaced.get(kind, 0) > 0, (kind, replaced)
    assert "left out  random.bin" in done.stdout, done.stdout
    assert text.count("\n") == plain_text().count("\n"), "lines were lost"


def test_names_are_consistent(folder):
    job = folder / "job"
    job.mkdir()
    (job / "rank0.log").write_text("nodeplanted17:1:2 [0] NCCL INFO x\nnodeplanted9:1:2 [0] NCCL INFO x\n/home/carol/a.py 10.0.0.7\n")
    (job / "rank1.log").write_text("nodeplanted9 and nodeplanted17 at 10.0.0.8, then 10.0.0.7 of carol\n")
    run("bundle", "job", "-o", "b.tar.zst", "--no-system", cwd=folder)
    inside = {name: body.decode() for name, body in members(folder / "b.tar.zst").items()}
    assert inside["rank0.log"] == "host-1:1:2 [0] NCCL INFO x\nhost-0:1:2 [0] NCCL INFO x\n/home/user-1/a.py 198.18.0.1\n", inside["rank0.log"]
    assert inside["rank1.log"] == "host-0 and host-1 at 198.18.0.2, then 198.18.0.1 of user-1\n", inside["rank1.log"]


def test_formats_stay_whole(folder):
    write_job(folder / "job")
    run("bundle", "job", "-o", "b.tar.zst", cwd=folder)
    inside = members(folder / "b.tar.zst")
    for protocol in (0, 2, 4):
        loaded = pickle.loads(inside[f"nccl_trace_rank_{protocol // 2}"])
        original = dump(protocol // 2)
        assert loaded["entries"][0]["input_sizes"] == [[4096, 77]] and loaded.keys() == original.keys()
        assert len(loaded["entries"][0]["frames"]) == len(original["entries"][0]["frames"])
    for name in ("dump_3.json", "trace_rank0.json", "trace_rank1.json"):
        json.loads(inside[name])
    assert "more.zip/logs/rank2.log" in inside, inside.keys()
    kinds = run("list", "jobs", "b.tar.zst", "--json", cwd=folder).stdout
    assert "failed" not in kinds


def test_recordings_keep_their_length(folder):
    job = folder / "job"
    job.mkdir()
    recording = Recording(host="nodeplanted17", rank=0, world_size=1)
    recording.meta("run_by", "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345")
    recording.meta("path", "/home/aliceplanted/train.py on nodeplanted17")
    (job / "run.dbr").write_bytes(recording.bytes())
    run("bundle", "job", "-o", "b.tar.zst", cwd=folder)
    after = members(folder / "b.tar.zst")["run.dbr"]
    assert len(after) == len(recording.bytes())
    assert not [word for word in (b"nodeplanted17", b"hf_AbCd", b"aliceplanted") if word in after]
    assert core(findings("job", folder)) == core(findings("b.tar.zst", folder))


def checksums(log):
    """Of every payload: whether the checksum in the line before it holds."""
    held, entry, payload = [], None, []
    for line in [*log.split("\n"), ""]:
        if line.startswith("\t"):
            payload.append(line[1:])
            continue
        if entry:
            held.append(hashlib.md5("\n".join(payload).encode()).hexdigest() == entry)
        found = re.search(r'"has_payload": "([0-9a-f]{32})"', line)
        entry, payload = found and found[1], []
    return held


def test_compile_logs_keep_their_checksums(folder):
    job = folder / "job"
    job.mkdir()
    packed = ROOT / "examples/hung-job/dedicated_log_torch_trace_rank_0_24twa8io.log.gz"
    before = gzip.decompress(packed.read_bytes()).decode().replace("/home/user/", "/home/aliceplanted/")
    fixed = re.sub(r'("has_payload": ")[0-9a-f]{32}(".*\n)((?:\t.*\n)*)', lambda match: match[1] + hashlib.md5("\n".join(
        line[1:] for line in match[3].splitlines()).encode()).hexdigest() + match[2] + match[3], before)
    (job / packed.name.removesuffix(".gz")).write_text(fixed)
    run("bundle", "job", "-o", "b.tar.zst", cwd=folder)
    after = members(folder / "b.tar.zst")[packed.name.removesuffix(".gz")].decode()
    assert "aliceplanted" in fixed and "aliceplanted" not in after
    assert len(checksums(after)) > 20 and all(checksums(after)) and all(checksums(fixed))


def test_same_verdict(folder):
    for name in ("hung-job", "out-of-memory", "recompiles", "two-rank-profile", "recorded-ops"):
        run("bundle", ROOT / "examples" / name, "-o", f"{name}.tar.zst", cwd=folder)
        before, after = findings(ROOT / "examples" / name, folder), findings(f"{name}.tar.zst", folder)
        assert core(before) == core(after), (name, core(before), core(after))


def test_shapes_and_files_on_request(folder):
    write_job(folder / "job")
    (folder / "job/rank0.log").write_text('step 1 loss 2\n  File "/home/carol/secretproject/magic_model.py", line 3\nsize torch.Size([4096, 77])\n')
    run("bundle", "job", "-o", "b.tar.zst", "--hide", "shapes,files", cwd=folder)
    inside = members(folder / "b.tar.zst")
    text = inside["rank0.log"].decode()
    assert "secretproject" not in text and "magic_model" not in text and "line 3" in text, text
    assert "4096" not in text and "77" not in text, text
    sizes = pickle.loads(inside["nccl_trace_rank_1"])["entries"][0]["input_sizes"]
    assert sizes != [[4096, 77]] and len(sizes[0]) == 2 and sizes[0][0] != sizes[0][1], sizes
    assert b"4096" not in inside["trace_rank1.json"]


def test_no_redact_and_limits(folder):
    write_job(folder / "job")
    (folder / "job/large.log").write_text("step 1\n" * 300_000)
    run("bundle", "job", "-o", "b.tar", "--no-redact", "--max-file", 1, cwd=folder)
    with tarfile.open(folder / "b.tar") as archive:
        names = archive.getnames()
        assert "large.log" not in names and "rank0.log" in names, names
        assert archive.extractfile("rank0.log").read() == (folder / "job/rank0.log").read_bytes()
        assert b"larger than --max-file" in archive.extractfile("debrief_bundle/REDACTED.md").read()


def test_links_that_lead_out(folder):
    (folder / "job").mkdir()
    (folder / "outside.log").write_text("plantedOutside step 1\n")
    (folder / "job/rank0.log").write_text("step 1\n")
    (folder / "job/rank1.log").symlink_to("../outside.log")
    run("bundle", "job", "-o", "b.tar.zst", cwd=folder)
    inside = members(folder / "b.tar.zst")
    assert "rank1.log" not in inside and all(b"plantedOutside" not in body for body in inside.values())
    assert b"leads out" in inside["debrief_bundle/REDACTED.md"]


def test_nothing_to_take(folder):
    (folder / "job").mkdir()
    done = run("bundle", "job", "-o", "b.tar.zst", cwd=folder, code=1)
    assert "kind that debrief reads" in done.stderr and not (folder / "b.tar.zst").exists()
    run("bundle", "nowhere", cwd=folder, code=2)


def test_a_second_time_gives_the_same_bytes(folder):
    write_job(folder / "job")
    for name in ("a.tar.zst", "b.tar.zst"):
        run("bundle", "job", "-o", name, "--no-system", cwd=folder)
    assert (folder / "a.tar.zst").read_bytes() == (folder / "b.tar.zst").read_bytes()


if __name__ == "__main__":
    sys.exit(in_folders.run("bundle", globals()))
