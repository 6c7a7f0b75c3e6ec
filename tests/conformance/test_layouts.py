"""A job is one job with the right ranks and attempts however its files lie, and with any kind of file missing."""
import json
import shutil

from layouts import LAYOUTS, files_of, lay_out, pack

ATTEMPTS = {"two_attempts": 2}


def jobs_of(context, path, *options):
    done = context.run("list", "jobs", path, "--json", *options)
    return [job for job in json.loads(done.stdout) if "name" in job], json.loads(done.stdout)


def train_jobs(context):
    return sorted(path for path in (context.data / "train").iterdir() if path.is_dir())


def complaints(title, jobs, placed, root, attempts, content_decides):
    """What is wrong with the one job that must have been seen."""
    if len(jobs) != 1:
        yield f"{title}: {len(jobs)} jobs: {[(job['name'], job['reasons']) for job in jobs]}"
        return
    if attempts and jobs[0]["attempts"] != attempts:
        yield f"{title}: {jobs[0]['attempts']} attempts, must be {attempts}"
    for entry in jobs[0]["inputs"]:
        file = placed.get(entry["path"].removeprefix(f"{root}/"))
        if file is None:
            continue
        rank = entry.get("rank")
        if rank != file.rank and not (content_decides and rank is None):
            yield f"{title}: {entry['path']} has rank {rank}, must be {file.rank} ({entry.get('rank_by')})"
        if file.attempt is not None and attempts and entry.get("attempt") != file.attempt:
            yield f"{title}: {entry['path']} is of attempt {entry.get('attempt')}, must be {file.attempt}"


def attempts_of(name, files):
    """How many attempts the files can tell."""
    told = {file.attempt for file in files if file.attempt is not None}
    return len(told) if told else None


def check(context, title, files, layout, name):
    folder = context.scratch / "job"
    shutil.rmtree(folder, ignore_errors=True)
    placed = lay_out(files, layout, folder)
    is_odd = layout.__name__ == "odd"
    attempts = None if is_odd else attempts_of(name, files)
    # Hosts with nothing but local ranks: no rank is right, a wrong one is not.
    content_decides = is_odd or layout.__name__ == "hosts"
    return list(complaints(title, jobs_of(context, folder)[0], placed, folder, attempts, content_decides))


def test_every_layout(context):
    wrong = []
    for job in train_jobs(context):
        files = files_of(job)
        for name, layout in LAYOUTS.items():
            wrong += check(context, f"{job.name}, {name}", files, layout, job.name)
    assert not wrong, "\n".join(wrong[:40]) + f"\n{len(wrong)} in all"


def test_every_layout_without_a_kind(context):
    wrong = []
    for job in train_jobs(context):
        files = files_of(job)
        for kind in sorted({file.kind for file in files}):
            rest = [file for file in files if file.kind != kind]
            if not any(file.path.stat().st_size for file in rest):
                continue  # nothing that anybody could read
            for name, layout in LAYOUTS.items():
                wrong += check(context, f"{job.name} without {kind}, {name}", rest, layout, job.name)
    assert not wrong, "\n".join(wrong[:40]) + f"\n{len(wrong)} in all"


def test_archive(context):
    wrong = []
    for job in train_jobs(context):
        files = files_of(job)
        for name in ("torchrun", "hosts", "flat"):
            archive = context.scratch / f"{job.name}.tar.gz"
            placed = pack(files, LAYOUTS[name], archive)
            jobs, _ = jobs_of(context, archive)
            inside = {f"job/{path}": file for path, file in placed.items()}
            for entry in (jobs[0]["inputs"] if jobs else []):
                entry["path"] = entry["path"].split("!", 1)[1]
            wrong += complaints(f"{job.name}.tar.gz, {name}", jobs, inside, "", attempts_of(job.name, files), False)
    assert not wrong, "\n".join(wrong[:40])


def test_one_folder_of_many_jobs(context):
    """All of train/ below one folder: each job is one, none is joined with another."""
    wrong = []
    for name, layout in LAYOUTS.items():
        root = context.scratch / name
        for job in train_jobs(context):
            lay_out(files_of(job), layout, root / job.name)
        jobs, _ = jobs_of(context, root)
        owners = {}
        for job in jobs:
            for entry in job["inputs"]:
                owners.setdefault(entry["path"].removeprefix(f"{root}/").split("/")[0], set()).add(job["name"])
        for job, names in owners.items():
            if len(names) != 1:
                wrong.append(f"{name}: {job} is seen as {sorted(names)}")
        if len(jobs) != len(owners):
            wrong.append(f"{name}: {len(jobs)} jobs, must be {len(owners)}")
        shutil.rmtree(root)
    assert not wrong, "\n".join(wrong[:40])


def test_profiles_beside_execution_traces(context):
    jobs, _ = jobs_of(context, "public_more/dlrm")
    assert [(job["name"], job["ranks"]) for job in jobs] == [("public_more/dlrm", list(range(8)))], jobs
    for entry in jobs[0]["inputs"]:
        assert entry["rank"] == int(entry["path"].rsplit("/", 1)[1].split(".")[0].replace("worker", "eg_").split("eg_")[1][0]), entry


def test_choice_of_the_user(context):
    jobs, _ = jobs_of(context, "train", "--one-job")
    assert len(jobs) == 1 and jobs[0]["reasons"] == ["--one-job"]
    jobs, _ = jobs_of(context, "train", "--job", "mine=*/killed/*", "--job", "other=train/aborted")
    names = {job["name"]: job for job in jobs}
    assert {"mine", "other", "train/slow_save"} <= set(names)
    assert all("/killed/" in entry["path"] for entry in names["mine"]["inputs"])
    assert all("/aborted/" in entry["path"] for entry in names["other"]["inputs"])


def test_diff_takes_the_folder_of_a_job(context):
    done = context.run("diff", "train/on_demand", "train/roots_healthy", check=False)
    assert done.returncode == 0, done.stderr


def test_named_twice_is_read_once(context):
    folder = context.scratch / "job"
    shutil.copytree(context.data / "train/killed", folder)
    (folder / "latest.txt").symlink_to("torchrun.txt")
    report = context.report([folder, folder / "torchrun.txt", folder / "fr"])
    read = [entry["path"] for entry in report["inputs"] if entry["state"] != "skipped"]
    assert len(read) == len(set(read)) and not any(path.endswith("latest.txt") for path in read), read
    assert len(report["jobs"]) == 1


def test_nothing_to_read_is_an_error(context):
    empty = context.scratch / "empty"
    empty.mkdir()
    done = context.run(empty, "-o", context.scratch / "out", check=False)
    assert done.returncode == 1 and "no file" in done.stderr, done.stderr
    (empty / "stdout.log").touch()
    done = context.run(empty, "-o", context.scratch / "out", "--overwrite", check=False)
    assert done.returncode == 1 and "empty" in done.stderr, done.stderr
