"""Why is it slow: jobs that are simulated with a fault in them (tests/job_simulator.py), against the same job without it.

The first finding names the rank and the cause, what a replay says that the fault costs is what it costs, and a job without a fault accuses nobody.
"""
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from job_simulator import MS, US, DataParallel, Pipeline  # noqa: E402

CLOSE = 0.05   # of what a fault costs
CHANCE = 0.01  # of a step: kernels of simulated jobs vary


def warnings(context, folder):
    done = context.run(folder, "-o", context.scratch / "out", "--overwrite", "--quiet", "--no-report", "--no-store", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert all(finding["severity"] != "error" for finding in findings), findings
    return [finding for finding in findings if finding["severity"] == "warning"]


def what_if(context, folder):
    sheets = {}
    for sheet in json.loads(context.run("profile", "what-if", folder, "--json", "--top", 0).stdout)["sheets"]:
        sheets.setdefault(sheet["table"], []).extend(sheet["rows"])
    return sheets["what_if_job"][0], sheets.get("what_if_change", [])


def check(context, name, job, plant, ranks, words, kind="rank", **how):
    """`job()` with `plant(job)`: who is blamed, in which words, and what the change of `kind` gains."""
    faulty, healthy = job(), job().run()
    plant(faulty)
    folder = context.scratch / name
    faulty.run().write(folder, **how)
    found = warnings(context, folder)
    assert found and found[0]["ranks"] == ranks and words in found[0]["headline"], (name, [finding["headline"] for finding in found])
    replayed, changes = what_if(context, folder)
    assert abs(replayed["replayed_ns"] / replayed["recorded_ns"] - 1) < 0.01 and replayed["replay_error"] < 0.01, (name, replayed)
    cost = faulty.step_ns() - healthy.step_ns()
    gains = [change["gain_ns"] for change in changes if change["kind"] == kind and change.get("worker_rank", ranks[0] if ranks else None) in (ranks or [None])]
    assert not kind or any(abs(gain - cost) < CLOSE * cost for gain in gains), (name, gains, cost)


def four():
    return DataParallel(ranks=4, steps=7)


def test_slow_device(context):
    check(context, "gpu", four, lambda job: job.gpu.update({3: 1.3}), [3], "its GPU computes")


def test_slow_device_of_some_steps(context):
    check(context, "throttled", four, lambda job: job.gpu.update({0: lambda step: 1.6 if step > 6 else 1.0}), [0], "its GPU computes")


def on_host(rank, steps, name, takes, category="user_annotation"):
    def plant(job):
        def before(each, step):
            if (rank is None or each.number == rank) and step in steps:
                each.slice(category, name, takes)
        job.before = before
    return plant


ALL, SOME = range(100), (5, 7, 9)


def test_hosts_that_run_ahead(context):
    """They never wait for their devices, whose work of a step comes after the step."""
    def job():
        made = DataParallel(ranks=4, steps=10)
        made.reads_loss = False
        return made
    check(context, "ahead_gpu", job, lambda job: job.gpu.update({3: 1.4}), [3], "its GPU computes 3.05 ms longer per step")
    check(context, "ahead_host", job, on_host(3, ALL, "train.py(7): log", 30 * MS, "python_function"), [3], "its host takes 30.0 ms longer per step")
    job().run().write(context.scratch / "ahead")
    assert warnings(context, context.scratch / "ahead") == []


def test_slow_hosts(context):
    check(context, "host", four, on_host(1, ALL, "train.py(7): log", 5 * MS, "python_function"), [1], "its host takes")
    check(context, "data", four, on_host(2, ALL, "DataLoader.next", 5 * MS), [2], "its data loading takes")


def test_hosts_that_are_slow_in_some_steps(context):
    """Medians over steps do not show it."""
    check(context, "pauses", four, on_host(2, SOME, "gc.py(1): collect", 60 * MS, "python_function"), [2], "its host takes 180 ms longer in 3 of 7 steps")
    check(context, "compiles", four, on_host(2, SOME, "_compile.compile_inner (dynamo_timed)", 60 * MS), [2], "it compiles for 180 ms in 3 of 7 steps")


def test_all_ranks_compile_in_some_steps(context):
    check(context, "all_compile", four, on_host(None, SOME, "_compile.compile_inner (dynamo_timed)", 60 * MS), [], "more compiling", "compile")


def test_nobody(context):
    for name, job in (("steady", DataParallel(4, 6, noise=0.03)), ("pipeline", Pipeline(8, 6, noise=0.03)), ("two", DataParallel(2, 6, noise=0.03))):
        job.run().write(context.scratch / name)
        assert warnings(context, context.scratch / name) == [], name


def test_uneven_batches_are_nobodys_fault(context):
    for seed in range(3):
        job = DataParallel(ranks=4, steps=12)
        for rank in range(4):
            job.gpu[rank] = lambda step, rank=rank: 0.7 + 0.6 * random.Random(1000 * seed + 100 * rank + step).random()
        folder = context.scratch / f"uneven{seed}"
        job.run().write(folder)
        blamed = [finding["headline"] for finding in warnings(context, folder) if finding["ranks"]]
        assert blamed == [], blamed


def test_stage_that_holds_too_much(context):
    def pipeline():
        job = Pipeline(ranks=8, steps=6)
        job.kernel_ns = 2 * MS
        return job
    check(context, "stage", pipeline, lambda job: job.stage_times.update({2: 1.5}), [2, 6], "Pipeline stage 2", "")
    check(context, "rank_of_stage", pipeline, lambda job: job.gpu.update({5: 1.4}), [5], "its GPU computes")


def test_steps_that_one_rank_did_not_record(context):
    """Steps repeat themselves and have no sequence numbers: which collective is which is told by the numbers of the steps."""
    check(context, "late", lambda: DataParallel(ranks=4, steps=7, noise=0.001), lambda job: job.gpu.update({3: 1.3}), [3], "its GPU computes", left_out={1: (4, 5)})


# ---- Delays at random.

def random_job(chance, seed):
    """(what makes the job, its ranks, its steps, whether each of its ranks has one like it)"""
    steps, noise = chance.randint(5, 9), chance.choice([0.005, 0.02])
    kernel, batches = chance.choice([200, 400, 1000]) * US, chance.randint(4, 8)
    ranks, stages = chance.choice([(3, 1), (4, 1), (6, 1), (8, 1), (4, 2), (8, 2), (8, 4), (4, 4)])

    def job():
        made = DataParallel(ranks, steps, noise, seed) if stages == 1 else Pipeline(ranks, steps, stages, batches, noise=noise, seed=seed)
        made.kernel_ns = kernel
        return made
    return job, ranks, steps, ranks > stages


def random_delay(chance, rank, steps, has_peers):
    """A rank that has none like it can only be compared with itself: then some steps are delayed. Never the first, which may be left out."""
    some = set(chance.sample(range(5, 4 + steps), chance.randint(2, steps // 2)))
    where = chance.choice([ALL, some]) if has_peers else some
    slower, takes = chance.uniform(1.2, 2.2), int(chance.uniform(4, 25) * MS)
    return chance.choice([
        lambda job: job.gpu.update({rank: lambda step: slower if step in where else 1.0}),
        on_host(rank, where, "gc.py(1): collect", takes, "python_function"),
        on_host(rank, where, "DataLoader.next", takes)])


def rank_step_ns(job):
    """Mean over ranks: in a pipeline they do not all end at once."""
    spans = [max(max(work.end for work in rank.works), rank.steps[-1][2]) - rank.steps[0][1] for rank in job.ranks]
    return sum(spans) / len(spans) / job.step_count


def test_forty_random_delays(context):
    errors = []
    for seed in range(40):
        chance = random.Random(seed)
        job, ranks, steps, has_peers = random_job(chance, seed)
        rank, faulty = chance.randrange(ranks), job()
        random_delay(chance, rank, steps, has_peers)(faulty)
        folder = context.scratch / f"random{seed}"
        faulty.run().write(folder)
        replayed, changes = what_if(context, folder)
        assert abs(replayed["replayed_ns"] / replayed["recorded_ns"] - 1) < 0.01, (seed, replayed)
        healthy = rank_step_ns(job().run())
        cost = rank_step_ns(faulty) - healthy
        gain, = [change["gain_ns"] for change in changes if change["kind"] == "rank" and change.get("worker_rank") == rank]
        assert abs(gain - cost) < max(CLOSE * cost, CHANCE * healthy), (seed, gain, cost, healthy)
        errors.append(abs(gain - cost) / max(cost, healthy * CHANCE))
    print(f"  off by {max(errors):.1%} at most, {sorted(errors)[len(errors) // 2]:.2%} in the middle")
