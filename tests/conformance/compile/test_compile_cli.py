"""The command line of debrief compile: the flags, messages and exit codes of tlparse 0.4.3, and what debrief adds."""
import gzip
import json
import os
import re
import subprocess

import compile_golden as golden
from torch_trace_writer import Log, good_log

SIMPLE = "public/tlparse/inputs/simple.log"


def compile_to(context, source, out, *flags, cwd=None):
    return context.run("compile", source, "-o", out, "--no-browser", *flags, cwd=cwd, check=False)


def written(context, content, name="a.log"):
    path = context.scratch / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def assert_refused(done, message, out=None, code=1):
    lines = done.stderr.splitlines()
    assert done.returncode == code, f"exit code {done.returncode}, must be {code}; {done.stderr[-500:]}"
    assert f"Error: {message}" in lines, f"stderr has no line 'Error: {message}':\n{done.stderr[-500:]}"
    assert out is None or not out.exists(), "the failed run left its folder"


def tree_of(folder):
    """{path: bytes}; the name of the log, under the heading of its index, is left out."""
    files = {path: (folder / path).read_bytes() for path in golden.paths_of(folder)}
    if "index.html" in files:
        files["index.html"] = re.sub(rb'(</h1><p class="quiet">)[^<]*', rb"\1", files["index.html"])
    return files


def assert_same_trees(one, other, but=()):
    left, right = tree_of(one), tree_of(other)
    assert set(left) == set(right), sorted(set(left) ^ set(right))
    differ = [path for path in left if left[path] != right[path] and path not in but]
    assert not differ, differ


# --- messages and exit codes ---

def test_missing_input(context):
    out = context.scratch / "out"
    assert_refused(compile_to(context, "no/such.log", out), "no/such.log is not a file", out)


def test_existing_folder(context):
    out = context.scratch / "out"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    message = f"Directory {out} already exists; pass --overwrite to replace it or use -o OUTDIR"
    assert_refused(compile_to(context, SIMPLE, out), message)
    assert golden.paths_of(out) == ["mine.txt"]
    assert_refused(compile_to(context, "public/tlparse/inputs/multi_rank_logs", out, "--all-ranks-html"), message)
    assert golden.paths_of(out) == ["mine.txt"]


def test_overwrite(context):
    """A tree of tlparse is replaced, and what others put there is kept; a folder of somebody else is refused."""
    out = context.scratch / "out"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    assert_refused(compile_to(context, SIMPLE, out, "--overwrite"),
                   f"{out} is no folder that debrief wrote (it has no file .debrief), so it is not replaced. "
                   "Remove it yourself, or choose another folder with -o.")
    assert golden.paths_of(out) == ["mine.txt"]
    for name in ("index.html", "compile_directory.json", "-_9_9_9/old.txt"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("old")
    assert compile_to(context, SIMPLE, out, "--overwrite").returncode == 0
    assert "-_9_9_9/old.txt" not in golden.paths_of(out) and (out / "mine.txt").read_text() == "precious"
    before = tree_of(out)
    assert compile_to(context, "no/such.log", out, "--overwrite").returncode == 1
    assert tree_of(out) == before, "a run that failed has taken the earlier tree away"


def test_default_folder(context):
    path = written(context, good_log().bytes())
    done = context.run("compile", path, "--no-browser", cwd=context.scratch)
    assert done.stdout == "", "a single log prints nothing on stdout"
    assert (context.scratch / "tl_out/index.html").is_file()


def test_latest(context):
    folder = context.scratch / "logs"
    for age, name in enumerate(("new.log", "middle.log", "old.log")):
        path = written(context, good_log().artifact("name_of_log", name).bytes(), f"logs/{name}")
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    out = context.scratch / "out"
    assert compile_to(context, folder, out, "--latest").returncode == 0
    assert b'new.log' in (out / "raw.log").read_bytes()


def test_latest_errors(context):
    out, empty = context.scratch / "out", context.scratch / "empty"
    empty.mkdir()
    assert_refused(compile_to(context, SIMPLE, out, "--latest"),
                   f"Input path {SIMPLE} is not a directory (required when using --latest)", out)
    assert_refused(compile_to(context, empty, out, "--latest"), f"No files found in directory {empty}", out)
    assert_refused(compile_to(context, "public/tlparse/inputs/multi_rank_logs", out, "--latest", "--all-ranks-html"),
                   "--latest cannot be used with --all-ranks-html", out)


def test_all_ranks_errors(context):
    out, empty = context.scratch / "out", context.scratch / "empty"
    empty.mkdir()
    (empty / "other.log").touch()
    assert_refused(compile_to(context, SIMPLE, out, "--all-ranks-html"),
                   f"Input path {SIMPLE} must be a directory when using --all-ranks-html", out)
    assert_refused(compile_to(context, empty, out, "--all-ranks-html"), f"No rank log files found in directory {empty}", out)


def test_usage(context):
    for words in ([], ["--no-such-flag", SIMPLE], ["--custom-header-html"]):
        done = context.run("compile", *words, check=False)
        assert done.returncode == 2, f"{words}: exit code {done.returncode}"
    for words in (["-h"], ["--help"], ["-V"]):
        done = context.run("compile", *words, cwd=context.scratch)
        assert done.stdout and not done.stderr, words
    usage = context.run("compile", "--help").stdout
    for flag in ("--overwrite", "--latest", "--strict", "--strict-compile-id", "--no-browser", "--custom-header-html", "-v", "-p",
                 "-e", "-i", "--all-ranks-html", "-o", "--split-ranks"):
        assert flag in usage, f"the help does not tell of {flag}"
    assert re.search(r"\d+\.\d+", context.run("compile", "-V").stdout)


def test_long_flags(context):
    """tlparse's long forms."""
    out = context.scratch / "out"
    log = "public/tlparse/inputs/inductor_provenance_jit_log.txt"
    done = compile_to(context, log, out, "--plain-text", "--inductor-provenance", "--verbose")
    assert done.returncode == 0, done.stderr
    assert any(path.startswith("provenance_tracking_") for path in golden.paths_of(out))
    out = context.scratch / "export"
    assert compile_to(context, "public/tlparse/inputs/export.log", out, "--export").returncode == 0


def test_strict(context):
    """One entry each that --strict refuses; without it they are counted."""
    bad = {
        "fail_glog": good_log().raw(b"no prefix\n"),
        "fail_json": good_log().envelope("{broken"),
        "fail_payload_md5": good_log().envelope('{"aot_joint_graph": {}, "has_payload": "%s"}' % ("0" * 32), b"text"),
        "other_rank": good_log(0).add("aot_joint_graph", {}, "text", rank=1),
        "fail_dynamo_guards_json": good_log().add("dynamo_guards", {}, "no json"),
        "fail_parser": good_log().add("artifact", {"name": "a", "encoding": "base64"}, "text"),
    }
    for counter, log in bad.items():
        path, out = written(context, log.bytes(), f"{counter}.log"), context.scratch / counter
        assert_refused(compile_to(context, path, out, "--strict"), "Something went wrong", out)
        done = compile_to(context, path, out)
        assert done.returncode == 0 and re.search(rf"Stats \{{ .*\b{counter}: \d+", done.stderr), f"{counter}: {done.stderr}"


def test_strict_lets_pass(context):
    """Unknown keys and key conflicts are nothing to refuse."""
    log = good_log().add("brand_new_thing", {"a": 1}).add("aot_joint_graph", {}, "text", timestamp="mine")
    done = compile_to(context, written(context, log.bytes()), context.scratch / "out", "--strict", "-v")
    assert done.returncode == 0, done.stderr
    assert "unknown: 2" in done.stderr and "fail_key_conflict: 1" in done.stderr, done.stderr
    assert "Unknown field brand_new_thing" in done.stderr.splitlines(), done.stderr
    assert "Key conflict: 'timestamp' already exists in JSON payload, skipping raw.jsonl JSONL conversion" in done.stderr
    names = re.search(r"Unknown fields: \{(.*)\}", done.stderr)
    assert names and sorted(names[1].split(", ")) == ['"brand_new_thing"', '"timestamp"'], done.stderr


def test_strict_compile_id(context):
    out = context.scratch / "out"
    path = written(context, good_log().envelope('{"aot_joint_graph": {}, "frame_id": -1}').bytes())
    assert_refused(compile_to(context, path, out, "--strict-compile-id"), "Some log entries did not have compile id", out)
    assert compile_to(context, path, out).returncode == 0
    assert "unknown" in json.loads((out / "compile_directory.json").read_text())


def test_detected_rank(context):
    path = written(context, good_log(3).bytes())
    assert "Detected rank: Some(3)" in compile_to(context, path, context.scratch / "out").stderr


# --- what debrief adds ---

def test_folder_as_input(context):
    """A folder with one log is as good as the log."""
    path = written(context, good_log().bytes(), "logs/dedicated_log_torch_trace_abc.log")
    assert compile_to(context, path, context.scratch / "one").returncode == 0
    done = compile_to(context, path.parent, context.scratch / "two")
    assert done.returncode == 0, done.stderr
    assert_same_trees(context.scratch / "one", context.scratch / "two")


def test_packed_input(context):
    content = (context.data / SIMPLE).read_bytes()
    packed = [written(context, gzip.compress(content), "a.log.gz")]
    plain = written(context, content)
    if subprocess.run(["zstd", "-q", plain, "-o", context.scratch / "a.log.zst"], check=False).returncode == 0:
        packed.append(context.scratch / "a.log.zst")
    else:
        print("  skipped zstd: the command is not here")
    assert compile_to(context, plain, context.scratch / "plain").returncode == 0
    for path in packed:
        done = compile_to(context, path, context.scratch / f"of_{path.name}")
        assert done.returncode == 0, f"{path.name}: {done.stderr}"
        assert_same_trees(context.scratch / "plain", context.scratch / f"of_{path.name}")


def test_stdin(context):
    done = subprocess.run([context.binary, "compile", "-", "-o", context.scratch / "stdin", "--no-browser"], cwd=context.data,
                          input=(context.data / SIMPLE).read_bytes(), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert compile_to(context, SIMPLE, context.scratch / "file").returncode == 0
    assert_same_trees(context.scratch / "file", context.scratch / "stdin")


def test_same_bytes_with_any_number_of_threads(context):
    ranks = "public/tlparse/inputs/multi_rank_runtime"
    for jobs in ("1", "2", "7"):
        done = compile_to(context, ranks, context.scratch / jobs, "--all-ranks-html", "--jobs", jobs)
        assert done.returncode == 0, done.stderr
    assert_same_trees(context.scratch / "1", context.scratch / "2")
    assert_same_trees(context.scratch / "1", context.scratch / "7")


def test_crlf_and_missing_last_newline(context):
    content = good_log().bytes()
    for name, changed in (("crlf", content.replace(b"\n", b"\r\n")), ("cut", content.removesuffix(b"\n")),
                          ("blank", content.replace(b"\n", b"\n\n"))):
        done = compile_to(context, written(context, changed, f"{name}.log"), context.scratch / name, "--strict")
        assert done.returncode == 0, f"{name}: {done.stderr}"
    assert compile_to(context, written(context, content), context.scratch / "plain").returncode == 0
    for name in ("crlf", "cut", "blank"):
        assert_same_trees(context.scratch / "plain", context.scratch / name, {"raw.log"})


def test_two_logs_of_one_rank(context):
    """tlparse fails or loses one of them; both runs must be told of."""
    for name in ("aaaa", "bbbb"):
        written(context, good_log(0).bytes(), f"logs/dedicated_log_torch_trace_rank_0_{name}.log")
    written(context, good_log(1).bytes(), "logs/dedicated_log_torch_trace_rank_1_cccc.log")
    done = compile_to(context, context.scratch / "logs", context.scratch / "out", "--all-ranks-html")
    assert done.returncode == 0, done.stderr
    assert "aaaa" in done.stderr or "bbbb" in done.stderr, f"nobody is told which log is shown:\n{done.stderr}"


def test_failure_without_a_reason(context):
    """tlparse refuses the whole log (Fail reason not found); ours costs nothing else."""
    path = written(context, good_log().metrics((1, 0, 0), fail_type="RuntimeError").bytes())
    done = compile_to(context, path, context.scratch / "out")
    assert done.returncode == 0, done.stderr
    assert "RuntimeError" in (context.scratch / "out/failures_and_restarts.html").read_text()


def test_attempts(context):
    """Files of an entry without an attempt lie in a folder of their own; their compilation is that of attempt 0."""
    log = Log()
    for ids in ((0, 0), (0, 0, 0), (0, 0, 1)):
        log.add("aot_joint_graph", {}, "a", ids=ids)
    for ids in (None, (1, 2, 1)):
        log.add("aot_joint_graph", {}, "b", ids=ids, compiled_autograd_id=3)
    out = context.scratch / "out"
    assert compile_to(context, written(context, log.bytes()), out).returncode == 0
    directory = json.loads((out / "compile_directory.json").read_text())
    urls = {key: [file["url"] for file in value["artifacts"]] for key, value in directory.items()}
    assert urls == {"[!3/-/-]": ["3_-_-_-/aot_joint_graph_3.txt"], "[!3/1/2_1]": ["3_1_2_1/aot_joint_graph_4.txt"],
                    "[0/0]": ["-_0_0_-/aot_joint_graph_0.txt", "-_0_0_0/aot_joint_graph_1.txt"],
                    "[0/0_1]": ["-_0_0_1/aot_joint_graph_2.txt"]}, urls
    assert list(directory) == sorted(directory), "keys are sorted as text"


def test_json_artifacts(context):
    """Sorted keys, two blanks, numbers as tlparse writes them; what is no JSON stays as it is."""
    payloads = {"a": '{"b": 1.0, "a": [1e3, 18446744073709551616, -0.0, 0.1], "b": {}, "c": "\\u00e9\\/"}',
                "nan": '{"a":   NaN}', "none": ""}
    log = Log()
    for name, payload in payloads.items():
        log.add("artifact", {"name": name, "encoding": "json"}, payload)
    log.add("graph_dump", {"name": "no.dots.here"}, "x")
    out = context.scratch / "out"
    assert compile_to(context, written(context, log.bytes()), out).returncode == 0
    assert (out / "-_0_0_0/a_0.json").read_text() == (
        '{\n  "a": [\n    1000.0,\n    1.8446744073709552e19,\n    -0.0,\n    0.1\n  ],\n  "b": {},\n  "c": "\u00e9/"\n}')
    assert (out / "-_0_0_0/nan_1.json").read_text() == '{"a":   NaN}'
    assert (out / "-_0_0_0/none_2.json").read_text() == ""
    assert (out / "-_0_0_0/no.dots.here_3.txt").read_text() == "x"
