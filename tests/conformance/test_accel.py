"""debrief accel against acelyzer, over public/acelyzer: a command, what it wrote and its exit code for each case.

With --compat every case that acelyzer finished must give the same files. What it did not survive must be told, keep all
good events, and end with 0 where there is one; so must every malformed input without --compat. No output may have two
slices of one thread that overlap in part: viewers drop them.
"""
import gzip
import json
import math
import re
import shlex
import shutil
from collections import defaultdict
from pathlib import Path

from accel_compare import SHOWN, compare_files

META = {"cmd.txt", "rc.txt", "console_norm.txt", "stdout.txt", "time.txt"}
# Options that are wrong, whatever the input: acelyzer's code stays.
WRONG_OPTIONS = {"profile_bad", "profile_missing"}
# Inputs without a single good event.
NOTHING_GOOD = {"err_a.pftrace", "err_data.log", "err_dict_no_te.json", "err_empty.json", "err_emptylist.json", "err_nan.json",
                "err_no_dur.json", "err_no_name.json", "err_no_ph.json", "err_no_pid.json", "err_noext2",
                "err_own_output.json", "err_textfile"}


def cases(context):
    """(name, exit code, words of the command line) of the cases whose inputs are there."""
    folder = context.data / "public/acelyzer"
    if not (folder / "INDEX.tsv").exists():
        print(f"skipped: no {folder}")
        return []
    found = []
    for line in (folder / "INDEX.tsv").read_text().splitlines()[1:]:
        name, code = line.split("\t")[:2]
        words = shlex.split((folder / "expected" / name / "cmd.txt").read_text())[1:]
        if inputs_of(folder / "expected" / name, words):
            found.append((name, int(code), words))
    assert found
    return found


def inputs_of(folder, words):
    listed = words[words.index("-i") + 1]
    return [path for part in listed.split(",") for path in (folder / part).parent.glob(Path(part).name)]


def run_case(context, name, words, *options):
    """The folder it was run in, and the finished process."""
    root = context.scratch / "cases"
    folder = root / "expected" / (name + "".join(options))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not (root / "inputs").exists():
        (root / "inputs").symlink_to(context.data / "public/acelyzer/inputs")
    done = context.run("accel", *words, *options, cwd=folder, check=False)
    assert done.returncode in (0, 1, 2), f"{name}: exit code {done.returncode}\n{done.stderr[-1000:]}"
    return folder, done


def same_as_reference(context, name, words):
    folder, done = run_case(context, name, words, "--compat")
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stdout[-300:]}"]
    problems = []
    expected = context.data / "public/acelyzer/expected" / name
    for want in sorted(path for path in expected.iterdir() if path.name not in META):
        got = folder / want.name
        found = compare_files(want, got) if got.exists() else ["not written"]
        if found:
            problems.append(f"{want.name}: {len(found)} differences\n      " + "\n      ".join(found[:SHOWN]))
    return problems


def test_same_files(context):
    wrong = []
    for name, code, words in cases(context):
        if code != 0:
            continue
        problems = same_as_reference(context, name, words)
        wrong += [f"{name}: {problem}" for problem in problems]
    assert not wrong, f"{len(wrong)} files differ\n  " + "\n  ".join(wrong)


def expected_code(name, code, words, compat):
    if name in WRONG_OPTIONS:
        return 1
    if compat and code == 0:
        return 0
    return 1 if name in NOTHING_GOOD else 0


def is_told(name, done):
    """A case that acelyzer did not survive, or an input that is malformed, has a line that says so."""
    text = done.stdout + done.stderr
    return any(word in text for word in ("ERROR", "WARNING", "debrief:"))


def test_what_acelyzer_does_not_survive(context):
    wrong = []
    for name, code, words in cases(context):
        for options in ([], ["--compat"]):
            if code == 0 and not (name.startswith("err_") and not options):
                continue
            folder, done = run_case(context, name, words, *options)
            want = expected_code(name, code, words, bool(options))
            if done.returncode != want:
                wrong.append(f"{name} {options}: exit code {done.returncode}, not {want}\n{done.stdout[-300:]}{done.stderr[-300:]}")
            elif not is_told(name, done):
                wrong.append(f"{name} {options}: nothing is told")
            elif want == 0 and not any(folder.iterdir()):
                wrong.append(f"{name} {options}: nothing is written")
    assert not wrong, "\n".join(wrong)


def traces(folder):
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json" and path.is_file():
            yield path, json.loads(path.read_text())


def grid(time):
    return max(0.001, 2 * math.ulp(time))


def partial_overlaps(events):
    """Pairs of slices of one thread that overlap in part, beyond what a double can tell."""
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            step = grid(event["ts"] + event["dur"])
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], 2 * step, event["name"]))
    for track, slices in tracks.items():
        open_slices = []
        for slice_ in sorted(slices, key=lambda each: (each[0], -each[1])):
            start, end, step, name = slice_
            open_slices = [each for each in open_slices if each[1] > start + step]
            for other in open_slices:
                if start - other[0] > step and end - other[1] > step:
                    yield f"{track}: {other[3]!r} [{other[0]}, {other[1]}] and {name!r} [{start}, {end}]"
            open_slices.append(slice_)


def test_no_slices_overlap_in_part(context):
    wrong = []
    for name, code, words in cases(context):
        if {"-V", "warn", "protobuf", "pddf"} & set(words):
            continue
        keeps_overlaps = {"-O", "-P", "--tb"} & set(words)
        for options in ([], ["--compat"]):
            if options and keeps_overlaps:
                continue
            folder, _ = run_case(context, name, words, *options)
            for path, trace in traces(folder):
                found = list(partial_overlaps(trace["traceEvents"]))
                if found:
                    wrong.append(f"{name} {options} {path.name}: {len(found)} overlaps, {found[0]}")
    assert not wrong, "\n".join(wrong)


def inputs(context):
    """The folder of inputs, or None."""
    folder = context.data / "public/acelyzer/inputs"
    if not folder.exists():
        print(f"skipped: no {folder}")
        return None
    return folder


def processed(context, name, *words):
    """The trace that debrief makes of some inputs."""
    folder = context.scratch / name
    folder.mkdir()
    context.run("accel", *words, "--quiet", "-o", "out.json", cwd=folder)
    return json.loads((folder / "out.json").read_text())


def slices_of(path):
    trace = json.loads(path.read_text())
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    return [event for event in events if event["ph"] in "XB"]


def test_several_devices_and_none(context):
    folder = inputs(context)
    for name, devices in (("torch_cuda_alexnet.json", 8), ("torch_rocm_mi250.json", None), ("torch_cpu_only.json", 0)) if folder else ():
        trace = processed(context, name, "-i", folder / name)
        kept = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        assert len(kept) == len(slices_of(folder / name)), f"{name}: {len(kept)} slices"
        assert devices is None or len(trace["deviceProperties"]) == devices, f"{name}: {len(trace['deviceProperties'])} devices"
        times = [event["ts"] for event in trace["traceEvents"] if "ts" in event]
        assert times == sorted(times), f"{name}: times go back"


def test_packed_input(context):
    folder = inputs(context)
    if folder is None:
        return
    plain = processed(context, "plain", "-i", folder / "tp4_rank1_job_1.json", "--freq", "560:800")
    copy = context.scratch / "tp4_rank1_job_1.json"
    with gzip.open(copy, "wb") as packed:
        packed.write((folder / copy.name).read_bytes())
    assert processed(context, "packed", "-i", copy, "--freq", "560:800")["traceEvents"] == plain["traceEvents"]


def device_slices(trace):
    """What each rank's device did, without times: ranks are brought onto one clock."""
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and "TS1" in event["args"]:
            found[event["pid"]].append((event["name"], event["args"]["TS3"]))
    return {rank: sorted(slices) for rank, slices in found.items()}


def test_ranks_in_one_file_stay_apart(context):
    """The file holds what the four files of ranks hold."""
    folder = inputs(context)
    if folder is None:
        return
    one = processed(context, "one", "-i", folder / "allreduce_tp4.json", "--freq", "560:800")
    four = processed(context, "four", "-i", f"{folder}/tp4_rank*_job_1.json", "--freq", "560:800")
    assert sorted(device_slices(one)) == [0, 1, 2, 3]
    assert device_slices(one) == device_slices(four)


def test_torch_ranks_do_not_mix(context):
    folder = inputs(context)
    if folder is None:
        return
    trace = processed(context, "torch", "-i", f"{folder}/torchaiu_rank*.pt.trace.json")
    pids = defaultdict(set)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            pids[event["args"]["rank"]].add(event["pid"])
    assert set(pids) == {0, 1} and not pids[0] & pids[1], pids
    ends = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            ends[event["cat"], event["id"]].append(event)
    rank_of = {pid: rank for rank in pids for pid in pids[rank]}
    mixed = [key for key, events in ends.items() if len({rank_of.get(event["pid"]) for event in events}) != 1]
    assert ends and not mixed, f"flows between ranks: {mixed[:5]}"


def test_perfetto_output(context):
    folder = inputs(context)
    if folder is None:
        return
    context.run("accel", "-i", folder / "torchaiu_rank0.pt.trace.json", "-f", "protobuf", "--quiet", "-o", "out.pftrace", cwd=context.scratch)
    sheet = json.loads(context.run("profile", "kernels", context.scratch / "out.pftrace", "--json", "--quiet").stdout)
    assert any(rows["rows"] for rows in sheet["sheets"]), "no kernel in the trace of Perfetto"


def arguments_of(events):
    """name -> the arguments of each slice and instant of that name, as sorted texts."""
    found = defaultdict(list)
    for event in events:
        if event["ph"] in "XBi" and event["name"] != "[memory]":
            found[event["name"]].append((event.get("args") or {}) | (event.get("attr") or {}))
    return {name: sorted(json.dumps(args, sort_keys=True) for args in each) for name, each in found.items()}


def events_of(path):
    content = path.read_bytes()
    trace = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    return trace if isinstance(trace, list) else trace["traceEvents"]


def test_arguments_go_through_perfetto(context):
    """What a trace says of its slices is the same after two conversions; Flex gains what its stamps and names tell."""
    folder = inputs(context)
    paths = sorted((context.data / "recorded/jobs/healthy").glob("profile_rank0.json.gz")) if folder else []
    paths += [folder / name for name in ("torch_cuda_alexnet.json", "torch_rocm_mi250.json", "torchaiu_rank0.pt.trace.json",
                                         "flexcpu_rank0_job_0.json")] if folder else []
    for path in paths:
        context.run("convert", path, "--to", "perfetto", "-o", context.scratch / "a.pftrace", "--quiet")
        context.run("convert", context.scratch / "a.pftrace", "--to", "chrome", "-o", context.scratch / "b.json", "--quiet")
        want, got = arguments_of(events_of(path)), arguments_of(events_of(context.scratch / "b.json"))
        assert want.keys() == got.keys(), f"{path.name}: {sorted(want.keys() ^ got.keys())[:5]}"
        for name in want:
            pairs = [(json.loads(before), json.loads(after)) for before, after in zip(want[name], got[name], strict=True)]
            lost = [before for before, after in pairs
                    if before != ({key: after.get(key) for key in before} if path.name.startswith("flex") else after)]
            assert not lost, f"{path.name}: {name}: {lost[0]}"


def test_perfetto_input_is_the_same(context):
    """A trace of Perfetto gives what the trace in JSON gives, whatever its name and packing."""
    folder = inputs(context)
    if folder is None:
        return
    trace = folder / "torchaiu_rank0.pt.trace.json"
    context.run("convert", trace, "--to", "perfetto", "-o", context.scratch / "no_extension", "--quiet")
    (context.scratch / "wrong.json.gz").write_bytes(gzip.compress((context.scratch / "no_extension").read_bytes()))
    known = lambda events: sorted((event["name"], event["cat"], round(event["dur"], 3), json.dumps(event["args"], sort_keys=True))
                                  for event in events if event["ph"] == "X")
    own = {"jobname", "class"}
    plain = [event | {"args": {key: value for key, value in event["args"].items() if key not in own}}
             for event in processed(context, "json", "-i", trace)["traceEvents"] if event["ph"] == "X"]
    for name in ("no_extension", "wrong.json.gz"):
        got = [event | {"args": {key: value for key, value in event["args"].items() if key not in own}}
               for event in processed(context, name + "_out", "-i", context.scratch / name)["traceEvents"] if event["ph"] == "X"]
        assert known(got) == known(plain), f"{name}: {len(got)} slices, not {len(plain)}"


def test_flex_through_perfetto_stays_flex(context):
    """Ranks, times and processes of Flex are found again, of one rank and of several that were merged."""
    folder = inputs(context)
    if folder is None:
        return
    placed = lambda trace: sorted((event["name"], event["pid"], round(event["ts"], 2), round(event["dur"], 2))
                                  for event in trace["traceEvents"] if event["ph"] == "X")
    for name, paths in (("one", [folder / "flexcpu_rank0_job_0.json"]), ("four", sorted(folder.glob("tp4_rank*_job_1.json")))):
        context.run("convert", *paths, "--to", "perfetto", "-o", context.scratch / name, "--quiet")
        options = ("--freq", "560:800", "-M")
        plain = processed(context, name + "_json", "-i", ",".join(map(str, paths)), *options)
        through = processed(context, name + "_perfetto", "-i", context.scratch / name, *options)
        if name == "one":
            assert placed(through) == placed(plain)
        ranks = lambda trace: sorted((event["name"], event["args"]["rank"]) for event in trace["traceEvents"] if event["ph"] == "X")
        assert ranks(through) == ranks(plain), name


def arrows(events, ph):
    return {(event["cat"], event["id"]) for event in events if event["ph"] == ph}


def test_worker_files_are_whole(context):
    """--tb: every slice, counter and name of a rank is in its file; no arrow loses one of its ends (some have but one in the input)."""
    folder = inputs(context)
    healthy = sorted((context.data / "recorded/jobs/healthy").glob("profile_rank[0-3].json.gz"))
    jobs = [(f"{folder}/tp4_rank*_job_1.json", ["--freq", "560:800", "--flow", "-R"]), (f"{folder}/torchaiu_rank*.pt.trace.json", []),
            (",".join(map(str, healthy)), [])] if folder else []
    for number, (listed, options) in enumerate(job for job in jobs if job[0]):
        out = context.scratch / f"tb{number}"
        out.mkdir()
        context.run("accel", "-i", listed, *options, "--tb", "--quiet", "-o", "out.json", cwd=out)
        whole = events_of(out / "out.pt.trace.json")
        workers = {int(path.name.split("_")[2].split(".")[0]): events_of(path) for path in out.glob("out_worker_*.pt.trace.json")}
        ranks = {event["args"]["rank"] for event in whole if event["ph"] == "X" and "rank" in event["args"]}
        assert workers.keys() == ranks and len(ranks) > 1, f"{listed}: {sorted(workers)}, not {sorted(ranks)}"
        for ph in "XCM":
            count = sum(event["ph"] == ph for event in whole)
            shared = sum(event["ph"] == ph and event["pid"] == -1 for event in whole) if "-R" in options else 0
            got = sum(event["ph"] == ph for events in workers.values() for event in events)
            assert got == count + shared * (len(ranks) - 1), f"{listed}: {got} events of phase {ph}, not {count}"
        for rank, events in workers.items():
            halves = (arrows(events, "s") ^ arrows(events, "f")) - (arrows(whole, "s") ^ arrows(whole, "f"))
            assert not halves, f"{listed}: rank {rank}: half of arrows {sorted(halves)[:5]}"
        assert arrows(whole, "s") == set().union(*(arrows(events, "s") for events in workers.values()))


def test_exit_codes_of_options(context):
    """Those of acelyzer: 1 for what makes no sense, 2 for what the command line does not allow."""
    trace = context.scratch / "trace.json"
    trace.write_text('[{"name": "a", "ph": "X", "pid": 0, "tid": 1, "ts": 1, "dur": 2}]')
    wrong = []
    for code, words in [(0, ["--help"]), (0, ["--version"]), (1, ["-i", "nonexistent"]), (2, []), (2, ["--unknown"]), (1, ["-i", "''"]),
                        (1, ["-i", ""]), (1, ["-i", ","]), (2, ["-i", trace, "-C", "other"]), (2, ["-i", trace, "-D", "5"]),
                        (1, ["-i", trace, "--freq", "abcd"]), (1, ["-i", trace, "--freq", "560:defg"]),
                        (1, ["-i", trace, "--freq", "-500.0"]), (1, ["-i", trace, "--freq", "560.0:-800"]),
                        (1, ["-i", trace, "--freq", "0.0:800"]), (2, ["-i", trace, "-C", "power_ts3,power_ts4"]),
                        (1, ["-i", trace, "-C", "power_ts3", "power_ts4"]), (2, ["-i", trace, "--event_limit", "[1]"]),
                        (2, ["-i", trace, "--event_limit", '{"other": 1}']), (1, ["-i", trace, "--freq_scaling", "2"]),
                        (2, ["-i", trace, "-O", "other"]), (0, ["-i", trace, "--freq", "560"]), (0, ["-i", trace, "-C"]),
                        (0, ["-i", trace, "--max_tid_streams", "-1"]), (0, ["-i", trace, "-T", "--disable_input_warnings"])]:
        for options in ([], ["--compat"]):
            done = context.run("accel", *words, *options, cwd=context.scratch, check=False)
            if done.returncode != code:
                wrong.append(f"{words} {options}: {done.returncode}, not {code}: {done.stdout[-200:]}{done.stderr[-200:]}")
    assert not wrong, "\n".join(wrong)


def test_recorded_ranks(context):
    """Eight ranks of one machine: their clocks agree, and one that was moved by five seconds is moved back."""
    traces_ = sorted((context.data / "recorded/jobs/healthy").glob("profile_rank*.json.gz"))
    if not traces_:
        print("skipped: no recorded/jobs/healthy")
        return
    done = context.run("accel", "-i", ",".join(map(str, traces_)), "-o", "all.json", cwd=context.scratch)
    assert "clocks of the ranks agree" in done.stdout, done.stdout[-2000:]
    trace = json.loads((context.scratch / "all.json").read_text())
    assert not list(partial_overlaps(trace["traceEvents"]))
    late = json.loads(gzip.decompress(traces_[1].read_bytes()))
    for event in late["traceEvents"]:
        if "ts" in event:
            event["ts"] += 5e6
    (context.scratch / "late.json").write_text(json.dumps(late))
    done = context.run("accel", "-i", f"{traces_[0]},late.json,{traces_[2]}", "-o", "late_out.json", cwd=context.scratch)
    shift = float(re.search(r"shifted by us \(.*\b1: (-?[\d.]+)", done.stdout)[1])
    assert abs(shift + 5e6) < 50_000, shift
