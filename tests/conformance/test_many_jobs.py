"""Several jobs under one path stay apart, each with its own answer; what findings rest on can be looked up."""
import json
import re
import shlex

BLAMED = {  # what the headline of a job blames
    "compile_divergence": [3], "crash": [4], "missing_collective": [5], "p2p_size": [4], "recompile_hang": [3],
    "size_mismatch": [2], "slow_gpu": [4], "slow_rank": [6], "straggler": [6], "type_mismatch": [1]}


def report_of(context, path, *options):
    folder = context.scratch / "out"
    done = context.run(path, "--quiet", "-o", folder, *options)
    return folder, json.loads((folder / "findings.json").read_text()), done.stdout


def short_name(job):
    return job["name"].rsplit("/", 1)[-1]


def test_each_job_has_its_answer(context):
    folder, run, text = report_of(context, "recorded", "--no-store", "--no-report")
    names = {job["job"]: short_name(job) for job in run["jobs"]}
    assert set(BLAMED) <= set(names.values()), names
    assert "healthy" in names.values()
    for finding in run["findings"]:
        assert finding["job"] in names, finding["rule"]
        assert {by_id(run, other)["job"] for other in finding["explains"]} <= {finding["job"]}, "a cause in another job"
    for job, name in names.items():
        own = [finding for finding in run["findings"] if finding["job"] == job]
        if name in BLAMED:
            assert own and own[0]["ranks"] == BLAMED[name], (name, own[0]["headline"] if own else None)


def by_id(run, name):
    return next(finding for finding in run["findings"] if finding["id"] == name)


def test_console_has_a_section_for_each_job(context):
    _, run, text = report_of(context, "recorded", "--no-store", "--no-report")
    found = [job for job in run["jobs"] if any(finding["job"] == job["job"] for finding in run["findings"])]
    places = {job["job"]: text.find(f"\n{job['name']}\n") for job in found}
    first = text.splitlines()[0]
    for job in found:
        assert places[job["job"]] >= 0 or first == job["name"], f"{job['name']} has no section"
    worst = {job["job"]: min("error warning info".split().index(finding["severity"]) for finding in run["findings"]
                             if finding["job"] == job["job"]) for job in found}
    order = [worst[job] for job in sorted(places, key=places.get)]
    assert order[0] == 0 and order[-1] == max(order), order


def test_one_job_alone_says_the_same(context):
    _, whole, _ = report_of(context, "recorded", "--no-store", "--no-report")
    for name in ("slow_rank", "missing_collective"):
        alone = context.report([f"recorded/jobs/{name}"])
        job = next(job["job"] for job in whole["jobs"] if short_name(job) == name)
        ours = [finding["headline"] for finding in whole["findings"] if finding["job"] == job]
        assert ours == [finding["headline"] for finding in alone["findings"]], name


def rows_of(context, folder, sql):
    return json.loads(context.run("query", folder, sql, "--json").stdout)


def test_every_finding_can_be_looked_up(context):
    """Evidence has rows, `explain` gives SQL for them, and that SQL gives exactly these rows."""
    folder, run, _ = report_of(context, "recorded", "--no-report")
    told = set()
    for finding in run["findings"]:
        assert finding["evidence"], finding["rule"]
        # A sentence that explains the headline has no rows of its own.
        own_evidence = [evidence for evidence in finding["evidence"] if evidence["table"]]
        assert own_evidence and all(evidence["rows"] for evidence in own_evidence), finding
        if finding["rule"] in told:
            continue
        told.add(finding["rule"])
        explained = json.loads(context.run("explain", folder, finding["id"], "--json").stdout)
        assert explained["headline"] == finding["headline"]
        for evidence, own in zip([each for each in explained["evidence"] if each.get("sql")], own_evidence, strict=True):
            rows = rows_of(context, folder, evidence["sql"])
            assert rows == evidence["data"]
            assert [row["row"] for row in rows] == sorted(set(own["rows"])), evidence["sql"]
        text = context.run("explain", folder, finding["id"]).stdout
        for command in re.findall(r"^ *(debrief query [^'\n]*'[^']*')$", text, re.M):
            assert context.run(*shlex.split(command)[1:]).stdout, command
    assert len(told) > 10, told


def test_documented_sql_runs(context):
    """What a next step tells to run, runs."""
    folder, run, _ = report_of(context, "recorded", "--no-report")
    statements = {sql for finding in run["findings"]
                  for sql in re.findall(r'debrief query \S+ "([^"]+)"', finding["next_step"])}
    assert statements
    for sql in statements:
        context.run("query", folder, sql)


def test_every_table_by_name(context):
    """`debrief list tables --json` is the schema of what `query --table` gives."""
    folder, _, _ = report_of(context, "recorded/jobs/healthy", "--no-report")
    tables = json.loads(context.run("list", "tables", "--json").stdout)
    described = {}
    for row in rows_of(context, folder, "SELECT table_name, column_name, data_type FROM information_schema.columns "
                                        "WHERE table_schema = 'main' ORDER BY table_name, ordinal_position"):
        described.setdefault(row["table_name"], []).append((row["column_name"], row["data_type"]))
    for table in tables:
        assert table["schema"] == 1
        listed = [(column["name"], column["type"]) for column in table["columns"]]
        assert described[table["name"]] == listed, table["name"]
    csv = context.run("query", folder, "--table", "rank", "--csv").stdout
    assert csv.splitlines()[0] == "job,attempt,rank,host,inputs" and len(csv.splitlines()) == 9, csv
    done = context.run("query", folder, "--table", "no_such", check=False)
    assert done.returncode == 2 and "debrief list tables" in done.stderr
