"""`debrief diff`: whom it blames, that parts add up, that identical runs do not differ, and that gates hold."""
import itertools
import json

JOBS = "recorded/jobs"
MIXED = "recorded/compile/mixed"


def diff(context, *arguments):
    return json.loads(context.run("diff", *arguments, "--json", "--quiet").stdout)


def headline(context, a, b):
    return context.run("diff", f"{JOBS}/{a}", f"{JOBS}/{b}", "--quiet").stdout.splitlines()[0]


def rows(answer, section):
    return [row for each in answer["sections"] if each["section"] == section for row in each["rows"]]


def check_sums(change):
    for column in ("a", "b", "difference"):
        assert sum(part[column] for part in change["parts"]) == change["total"][column], (column, change)


def test_a_slow_host_is_to_blame(context):
    answer = diff(context, f"{JOBS}/healthy", f"{JOBS}/slow_rank")
    blame = answer["steps"]["blame"]
    assert (blame["part"], blame["ranks"]) == ("host", [6]), blame
    assert 40e6 < blame["difference"] < 60e6 and blame["beyond_noise"], blame
    assert blame["others_wait"] > 0, blame
    assert "because of the host of rank 6" in answer["headline"] and "longer" in answer["headline"], answer["headline"]
    new = [row for row in rows(answer, "findings") if row["change"] == "new"]
    assert new and all(row["ranks"] == [6] for row in new if row["note"] != "info"), new


def test_the_other_way_round_it_got_better(context):
    line = headline(context, "slow_rank", "healthy")
    assert "because of the host of rank 6 (-" in line and " less " in line, line
    answer = diff(context, f"{JOBS}/slow_rank", f"{JOBS}/healthy")
    assert not [row for row in rows(answer, "findings") if row["change"] == "new" and row["note"] != "info"]


def test_a_slow_gpu_is_to_blame(context):
    answer = diff(context, f"{JOBS}/healthy", f"{JOBS}/slow_gpu")
    steps = answer["steps"]
    assert (steps["blame"]["part"], steps["blame"]["ranks"]) == ("gpu", [4]), steps["blame"]
    assert steps["total"]["beyond_noise"] and steps["total"]["difference"] > 200e6, steps["total"]
    waits = {part["part"]: part for part in steps["parts"]}["waiting"]
    assert waits["beyond_noise"] and waits["difference"] > 100e6, waits
    assert any(row["change"] == "new" for row in rows(answer, "kernels")), rows(answer, "kernels")


def test_parts_add_up_and_turn_around(context):
    for a, b in itertools.permutations(("healthy", "slow_rank", "slow_gpu"), 2):
        steps = diff(context, f"{JOBS}/{a}", f"{JOBS}/{b}")["steps"]
        turned = diff(context, f"{JOBS}/{b}", f"{JOBS}/{a}")["steps"]
        check_sums(steps)
        assert len(steps["ranks"]) == 8
        for rank in steps["ranks"]:
            check_sums(rank)
        for one, other in zip(steps["parts"], turned["parts"]):
            assert (one["a"], one["b"]) == (other["b"], other["a"]), (one, other)


def test_profile_diff_shows_the_same_steps(context):
    """One computation: total, noise and number of steps, to the nanosecond."""
    pairs = [(f"{JOBS}/{a}", f"{JOBS}/{b}") for a, b in itertools.permutations(("healthy", "slow_rank", "slow_gpu"), 2)]
    for a, b in [*pairs, ("recorded/profiles/plain.json.gz", "recorded/profiles/stack.json.gz")]:
        steps = diff(context, a, b)["steps"]
        other = json.loads(context.run("profile", "diff", a, b, "--json", "--quiet").stdout)
        total = other["total"]
        assert (steps["total"]["a"], steps["total"]["b"]) == (total["a_ns"], total["b_ns"]), (a, b, steps["total"], total)
        assert steps["total"]["beyond_noise"] == (total["significance"] == "significant"), (a, b, steps["total"], total)
        text = context.run("profile", "diff", a, b, "--quiet").stdout
        assert f"means of {steps['steps_a']} and {steps['steps_b']} steps" in text, (a, b, text)


def test_the_same_twice_is_no_difference(context):
    for job in sorted((context.data / JOBS).iterdir()):
        done = context.run("diff", f"{JOBS}/{job.name}", f"{JOBS}/{job.name}", "--fail-on", "new-info", "--fail-on", "step_time>0%", "--quiet")
        assert done.stdout.startswith("No difference beyond noise\n"), (job, done.stdout[:500])


def test_ranks_of_a_healthy_run_differ_by_chance_alone(context):
    for a, b in itertools.combinations(range(8), 2):
        answer = diff(context, f"{JOBS}/healthy", "--ranks", a, b)
        assert "blame" not in answer["steps"] and not answer["steps"]["total"]["beyond_noise"], (a, b, answer["headline"])


def test_ranks_of_a_run_with_a_slow_one(context):
    for rank in (0, 3, 7):
        blame = diff(context, f"{JOBS}/slow_rank", "--ranks", rank, 6)["steps"]["blame"]
        assert blame["part"] == "host" and blame["difference"] > 40e6, blame
    assert context.run("diff", f"{JOBS}/healthy", "--ranks", 0, 99, check=False).returncode == 2


def test_a_compilation_that_others_do_not_have(context):
    answer = diff(context, f"{JOBS}/healthy", f"{JOBS}/recompile_hang")
    assert answer["headline"].startswith("New: Rank 3 ") and "aux_slow" in answer["headline"], answer["headline"]
    new = {row["name"]: row["ranks"] for row in rows(answer, "compilations") if row["change"] == "new"}
    assert any("aux_slow" in name for name in new), new
    assert any(row["ranks"] == [3] and "aux_slow" in row["name"] for row in rows(answer, "graphs")), rows(answer, "graphs")


def test_the_newest_attempt_is_compared(context):
    answer = diff(context, f"{JOBS}/healthy", f"{JOBS}/size_mismatch")
    assert any("2 attempts" in note for note in answer["notes"]), answer["notes"]
    assert not rows(answer, "compilations"), rows(answer, "compilations")


def test_two_compilations(context):
    answer = diff(context, MIXED, "--compilations", "4/0", "4/2")
    assert [row["name"] for row in rows(answer, "recompiles")] == ["type of L['k']"], answer
    graph, = (row for row in rows(answer, "graphs") if row["name"] == "dynamo_output_graph")
    assert (graph["a"], graph["b"], graph["note"]) == (3, 4, "+1 .item"), graph
    assert {row["name"]: row["change"] for row in rows(answer, "guards")}["EQUALS_MATCH L['k']"] == "gone"
    assert diff(context, MIXED, "--compilations", "4/0", "4/0")["empty"]


def gate(context, a, b, *gates):
    arguments = [argument for each in gates for argument in ("--fail-on", each)]
    return context.run("diff", f"{JOBS}/{a}", f"{JOBS}/{b}", *arguments, check=False)


def test_gates(context):
    assert gate(context, "healthy", "healthy", "new-info", "step_time>0%", "compile_time>0%", "graph_breaks>0", "memory_peak>0%").returncode == 0
    slower = gate(context, "healthy", "slow_gpu", "step_time>5%")
    assert slower.returncode == 3 and "gate failed: step_time>5%: " in slower.stderr, slower.stderr
    assert gate(context, "healthy", "slow_gpu", "step_time>500%").returncode == 0
    assert gate(context, "slow_gpu", "healthy", "step_time>5%").returncode == 0
    noisy = gate(context, "healthy", "slow_rank", "step_time>1%")
    assert noisy.returncode == 0 and "within noise" in noisy.stderr, noisy.stderr
    assert gate(context, "healthy", "slow_rank", "new-error").returncode == 0
    assert gate(context, "healthy", "slow_rank", "new-warning").returncode == 3
    assert gate(context, "healthy", "crash", "new-error").returncode == 3
    assert gate(context, "healthy", "healthy", "step_time").returncode == 2
