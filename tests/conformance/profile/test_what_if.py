"""What stragglers cost: published jobs of pipeline stages, against the results that their authors publish; and recorded jobs with a
profile of each rank, against the same job without what was planted in it.
"""
import json
import resource

JOBS = "public_more/straggler"
WORST = {"AR": [0], "ST": [7]}
CAUSES = {"AR": ("slow_workers", "what_if.slow_worker", [0], ("1.97x", "22.9 s of 46.3 s")),
          "ST": ("last_stage", "what_if.last_stage", [6, 7], ("1.18x", "329 ms of 2.17 s"))}
CLOSE, CLOSE_SHARE = 1e-6, 1e-5  # of slowdowns, relative; of shares, absolute


def timelines(context):
    for job in CAUSES:
        path = context.data / JOBS / f"timeline-{job}.json.gz"
        if path.exists():
            yield job, path
        else:
            print(f"  skipped: {path} is not among the data")


def published(context, name):
    return json.loads((context.data / JOBS / name).read_text())


def sheets(context, path):
    answer = json.loads(context.run("profile", "what-if", path, "--json", "--top", 0).stdout)
    return {sheet["table"]: sheet["rows"] for sheet in answer["sheets"]}


def close(ours, theirs, relative=CLOSE):
    return abs(ours / theirs - 1) <= relative


def test_slowdowns_are_those_published(context):
    for job, path in timelines(context):
        found, result = sheets(context, path), published(context, f"result-{job}.json")
        row = found["what_if_job"][0]
        assert close(row["slowdown"], result["blocking_slowdown"]), (job, row["slowdown"])
        assert close(row["gap"], result["launch_slowdown"], 2e-4), (job, row["gap"])  # starts of transfers are cut in timelines
        assert row["replay_error"] < 1e-6 and row["steps_left_out"] == 0, row
        for step in found["what_if_step"]:
            assert close(step["slowdown"], result["blocking_step_slowdown"][str(step["step"])]), (job, step)
            assert close(step["recorded_ns"] / 1e9, result["step_t_base"][str(step["step"])], 0.01), (job, step)
        assert len(found["what_if_step"]) == len(result["step_t_base"])
        for kind, key, name in (("type", "optype", "name"), ("stage", "stage", "stage"), ("replica", "dp_rank", "replica")):
            ours = {str(change[name]): change["slowdown"] for change in found["what_if_change"] if change["kind"] == kind}
            theirs = result[f"blocking_decompose_by_{key}"]
            assert ours.keys() == theirs.keys(), (job, ours.keys(), theirs.keys())
            assert all(close(ours[part], theirs[part]) for part in theirs), (job, kind, ours, theirs)
        workers = [change for change in found["what_if_change"] if change["kind"] == "worker"]
        for worker in workers:
            least = min(result["blocking_decompose_by_dp_rank"][str(worker["replica"])], result["blocking_decompose_by_stage"][str(worker["stage"])])
            assert close(worker["slowdown"], least), (job, worker)


def test_causes_are_those_published(context):
    for job, path in timelines(context):
        causes = {row["cause"]: row for row in sheets(context, path)["what_if_cause"]}
        for cause, name, key in (("slow_workers", "mw", "Mw"), ("last_stage", "ms", "Ms")):
            result = published(context, f"{name}-{job}.json")
            assert abs(causes[cause]["removed_share"] - result[key]) <= CLOSE_SHARE, (job, causes[cause], result)
            assert abs(causes[cause]["added_share"] - result["add"]) <= CLOSE_SHARE, (job, causes[cause], result)
        assert causes["slow_workers"]["cause_ranks"] == WORST[job], causes


def test_the_verdict_names_the_cause(context):
    for job, path in timelines(context):
        cause, rule, ranks, words = CAUSES[job]
        assert sheets(context, path)["what_if_job"][0]["cause"] == cause
        report = json.loads(context.run(path, "--json", "--quiet", "--no-store", "--no-report", "-o", context.scratch / job).stdout)
        first = report["findings"][0]
        assert (first["rule"], first["severity"], first["role"], first["ranks"]) == (rule, "warning", "cause", ranks), first
        assert all(word in first["headline"] for word in words), first["headline"]


def test_a_large_job_is_replayed_at_once(context):
    for job, path in timelines(context):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        context.run("profile", "what-if", path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"  {job}: {spent:.2f} CPU-s")
        assert spent < 2, f"{job}: {spent:.2f} CPU-s"  # 0.2 in a release build on an idle machine; `make bench` measures that


RECORDED = {"slow_rank": 6, "slow_gpu": 4}


def replayed(context, job):
    found = sheets(context, context.data / "recorded/jobs" / job)
    row = found["what_if_job"][0]
    assert row["source"] == "profiles" and row["workers"] == 8 and row["unmatched"] == 0, row
    assert row["replay_error"] < 1e-6 and abs(row["replayed_ns"] / row["recorded_ns"] - 1) < 1e-6, row
    return row, {change["name"]: change for change in found["what_if_change"]}


def test_a_replay_without_the_delay_takes_what_a_healthy_job_takes(context):
    healthy, changes = replayed(context, "healthy")
    assert healthy["cause"] == "none" and healthy["slowdown"] < 1.03, healthy
    assert all(abs(change["gain_share"]) < 0.01 for change in changes.values() if change["kind"] == "rank"), changes
    for job, rank in RECORDED.items():
        row, changes = replayed(context, job)
        without = changes[f"rank {rank}"]["step_ns"]
        print(f"  {job}: {row['recorded_ns'] / 1e6:.1f} ms, without rank {rank} {without / 1e6:.1f} ms; healthy {healthy['recorded_ns'] / 1e6:.1f} ms")
        assert row["cause"] == "slow_workers", row
        assert close(without, healthy["recorded_ns"], 0.05), (job, without, healthy["recorded_ns"])
        others = [change for name, change in changes.items() if change["kind"] == "rank" and name != f"rank {rank}"]
        assert all(abs(change["gain_share"]) < 0.01 for change in others), others


# Folders with profiles of several ranks of a job, and why one is not replayed.
PROFILES = {"recorded/jobs/healthy": None, "recorded/jobs/slow_rank": None, "recorded/jobs/slow_gpu": None, "public_more/dlrm": None,
            "public/kineto/hta": "no step that all ranks recorded"}


def test_replays_without_changes_give_back_the_steps(context):
    for folder, excuse in PROFILES.items():
        if not (context.data / folder).exists():
            print(f"  skipped: {folder} is not among the data")
            continue
        found = sheets(context, context.data / folder)
        row = found["what_if_job"][0]
        if excuse:
            print(f"  {folder}: not replayed, {row['why_not']}")
            assert row["why_not"] == excuse, row
            continue
        worst = max(abs(step["replayed_ns"] / step["recorded_ns"] - 1) for step in found["what_if_step"])
        print(f"  {folder}: {row['workers']} ranks, {len(found['what_if_step'])} steps, off by {worst:.1e} at most, {row['unmatched']} unmatched")
        assert worst <= 0.01, (folder, found["what_if_step"])
        kinds = {change["kind"] for change in found["what_if_change"]}
        assert {"rank", "all", "type", "even", "collective", "link", "overlap", "host", "sync"} <= kinds, (folder, kinds)


def test_critical_paths_across_ranks_are_as_long_as_the_steps(context):
    for folder in [folder for folder, excuse in PROFILES.items() if excuse is None]:
        if not (context.data / folder).exists():
            print(f"  skipped: {folder} is not among the data")
            continue
        answer = json.loads(context.run("profile", "critical-path", folder, "--json", "--top", 0).stdout)
        found = {sheet["table"]: sheet["rows"] for sheet in answer["sheets"]}
        path = sorted(found["job_path"], key=lambda row: row["segment"])
        for before, now in zip(path, path[1:]):
            assert before["at_ns"] + before["duration_ns"] == now["at_ns"], (folder, before, now)
        for step in found["job_path_step"]:
            parts = sum(step[f"{cause}_ns"] for cause in ("kernel", "copy", "communication", "launch", "host", "data", "compile", "unknown"))
            segments = sum(row["duration_ns"] for row in path if row["step"] == step["step"])
            assert step["total_ns"] == parts == segments, (folder, step, segments)
        print(f"  {folder}: {len(path)} segments, {sum(step['total_ns'] for step in found['job_path_step']) / 1e6:.1f} ms")


def test_the_path_of_a_slow_gpu_runs_through_it(context):
    folder = "recorded/jobs/slow_gpu"
    answer = json.loads(context.run("profile", "critical-path", folder, "--json", "--top", 0).stdout)
    causes = {sheet["table"]: sheet["rows"] for sheet in answer["sheets"]}["job_path_cause"]
    first = max(causes, key=lambda row: row["duration_ns"])
    assert (first["cause"], first["wait_rank"], first["reason"]) == ("wait", 4, "kernel"), first


def test_a_diff_says_what_a_new_straggler_costs(context):
    jobs = [context.data / "recorded/jobs" / name for name in ("healthy", "slow_gpu")]
    answer = json.loads(context.run("diff", *jobs, "--json").stdout)
    rows = {section["section"]: section["rows"] for section in answer["sections"]}["replays"]
    straggler, = [row for row in rows if row["ranks"]]
    assert straggler["ranks"] == [4] and straggler["a"] == 0, straggler
    assert close(straggler["difference"], answer["steps"]["total"]["difference"], 0.05), (straggler, answer["steps"]["total"])


def test_profiles_name_nobody_but_the_planted_ranks(context):
    for folder in ("recorded/jobs/healthy", "recorded/jobs/slow_rank", "recorded/jobs/slow_gpu", "public_more/dlrm", "public/kineto/hta",
                   "public/kineto/tracelens"):
        if not (context.data / folder).exists():
            print(f"  skipped: {folder} is not among the data")
            continue
        report = json.loads(context.run(folder, "--json", "--quiet", "--no-store", "--no-report", "-o", context.scratch / folder.replace("/", "_")).stdout)
        named = [finding["ranks"] for finding in report["findings"] if finding["rule"].startswith("what_if.")]
        assert named == [[RECORDED[name]] for name in RECORDED if folder.endswith(name)], (folder, named)
