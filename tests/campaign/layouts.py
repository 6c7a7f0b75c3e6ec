"""Lays a recorded job out as other launchers would have left it: their folders, names, prefixes and closing texts.

A job was recorded under torchrun. `read_job` takes it apart: what each rank printed, how each process ended (torchrun's own block),
dumps, stacks. Each layout writes these parts again, and what its launcher says about the end; torchrun's text is left out.
"""
import dataclasses
import pathlib
import re
import shutil
import signal
import tarfile

PREFIX = re.compile(r"^\[default(\d+)\]:")
EXIT = re.compile(r"rank\s+: (\d+) \(local_rank: \d+\)\n\s+exitcode\s+: (-?\d+) \(pid: (\d+)\)")


@dataclasses.dataclass
class Job:
    folder: pathlib.Path
    world: int
    out: dict  # (attempt, rank) -> stdout, stderr
    exits: list  # (rank, code, pid), the first failure first; of the last attempt
    cancelled: bool  # the launcher was told to stop
    mixed: bool  # one text of all ranks, which cannot be taken apart
    running: bool  # recorded before its end


def launcher_text(folder):
    """What the launchers of all nodes wrote."""
    return "\n".join(path.read_text(errors="replace") for path in sorted([*folder.glob("torchrun.txt"), *folder.glob("node*/torchrun.txt")]))


def read_job(folder, truth):
    text = launcher_text(folder)
    outputs = {}
    for log in folder.glob("logs/*/attempt_*/*/stdout.log"):
        attempt, rank = int(log.parent.parent.name[8:]), int(log.parent.name)
        outputs[attempt, rank] = (log.read_text(errors="replace"), (log.parent / "stderr.log").read_text(errors="replace"))
    found = [(int(rank), int(code), int(pid)) for rank, code, pid in EXIT.findall(text)]
    exits = list(dict.fromkeys(found[-1:] + found))  # the root cause stands last
    return Job(folder, truth.get("world", 8), outputs, exits, cancelled="death signal, shutting down" in text, mixed=not outputs,
               running=truth.get("snapshot", False))


def copy(job, target, dumps=lambda rank: f"fr/nccl_trace_rank_{rank}", stacks=lambda rank: f"stacks_rank{rank}.txt"):
    for rank in range(job.world):
        for source, name in ((job.folder / "fr" / f"nccl_trace_rank_{rank}", dumps(rank)), (job.folder / f"stacks_rank{rank}.txt", stacks(rank))):
            if source.exists():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target / name)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def each(job):
    """(attempt, rank, lines of stdout and stderr), as a terminal would show them."""
    for (attempt, rank), (out, err) in sorted(job.out.items()):
        yield attempt, rank, out.splitlines() + err.splitlines()


def signal_name(code):
    return signal.strsignal(-code) or f"Signal {-code}"


def as_torchrun(job, target):
    shutil.copytree(job.folder, target, dirs_exist_ok=True)


def srun_says(job):
    if job.cancelled:
        return ("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
                "slurmstepd: error: *** JOB 4711 ON node01 CANCELLED AT 2026-11-16T05:31:00 DUE TO PREEMPTION ***\n")
    lines = []
    for rank, code, _ in job.exits:
        how = f"Exited with exit code {code}" if code > 0 else signal_name(code)
        lines.append(f"srun: error: node0{rank // 4 + 1}: task {rank}: {how}")
        if len(lines) == 1:
            lines.append("srun: Terminating StepId=4711.0")
            lines.append("slurmstepd: error: *** STEP 4711.0 ON node01 CANCELLED AT 2026-11-16T05:31:00 ***")
    return "\n".join(lines) + ("\n" if lines else "")


def as_slurm_files(job, target):
    for (attempt, rank), (out, err) in job.out.items():
        suffix = f".{attempt}" if max(a for a, _ in job.out) else ""
        write(target / f"logs/pretrain_4711_{rank}{suffix}.out", out)
        write(target / f"logs/pretrain_4711_{rank}{suffix}.err", err)
    write(target / "slurm-4711.out", "Starting on node01 node02\n" + srun_says(job))
    copy(job, target, dumps=lambda rank: f"nccl_dumps/nccl_trace_rank_{rank}")


def as_srun_labels(job, target):
    lines = [f"{rank}: {line}" for _, rank, text in each(job) for line in text]
    write(target / "slurm-4711.out", "\n".join(lines) + "\n" + srun_says(job))
    copy(job, target, dumps=lambda rank: f"dump_{rank}")


def mpirun_says(job):
    if not job.exits:
        return ""
    rank, code, pid = job.exits[0]
    bar = "-" * 74
    if code < 0:
        return (f"{bar}\nmpirun noticed that process rank {rank} with PID {pid} on node n0{rank // 4 + 1} exited on\n"
                f"signal {-code} ({signal_name(code)}).\n{bar}\n")
    return (f"{bar}\nmpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated. "
            f"The first process to do so was:\n\n   Process name: [[40961,1],{rank}]\n   Exit code:    {code}\n{bar}\n")


def as_mpirun_tags(job, target):
    lines = []
    for (_, rank), (out, err) in sorted(job.out.items()):
        lines += [f"[1,{rank}]<stdout>:{line}" for line in out.splitlines()] + [f"[1,{rank}]<stderr>:{line}" for line in err.splitlines()]
    write(target / "mpirun.log", "\n".join(lines) + "\n" + mpirun_says(job))
    copy(job, target)


def as_mpirun_files(job, target):
    for (attempt, rank), (out, err) in job.out.items():
        write(target / f"output/{attempt + 1}/rank.{rank:02d}/stdout", out)
        write(target / f"output/{attempt + 1}/rank.{rank:02d}/stderr", err)
    write(target / "launch.log", mpirun_says(job))
    copy(job, target, dumps=lambda rank: f"fr/nccl_trace_rank_{rank}")


def pod_status(job):
    parts = []
    if job.cancelled:
        parts.append("Events:\n  Normal  Killing  kubelet  Stopping container pytorch\n  Warning  Preempted  default-scheduler  Preempted by a pod "
                     "of higher priority\n")
    for rank, code, _ in job.exits:
        parts.append(f"Name:             trainer-worker-{rank}\nNamespace:        ml\nContainers:\n  pytorch:\n    State:          Terminated\n"
                     f"      Reason:       Error\n      Exit Code:    {code if code > 0 else 128 - code}\n")
    return "\n\n".join(parts)


def as_pods(job, target):
    for attempt, rank, lines in each(job):
        name = f"trainer-worker-{rank}" + (f".previous" if attempt < max(a for a, _ in job.out) else "")
        write(target / f"pods/{name}.log", "".join(f"2026-11-16T05:30:{i % 60:02d}.{i:09d}Z {line}\n" for i, line in enumerate(lines)))
    write(target / "describe.txt", pod_status(job))
    copy(job, target, dumps=lambda rank: f"dumps/nccl_trace_rank_{rank}")


def as_kubectl(job, target):
    lines = [f"[pod/trainer-worker-{rank}/pytorch] {line}" for _, rank, text in each(job) for line in text]
    write(target / "all-pods.log", "\n".join(lines) + "\n")
    copy(job, target)


def deepspeed_says(job, commands):
    """The end, as launch.py tells it: no pid, no rank. It lists all its processes, and the command is that of the one it started last."""
    lines = []
    if job.exits or job.cancelled:
        lines += [("INFO", "launch.py:335:sigkill_handler", f"Killing subprocess {4000 + rank}") for rank in range(job.world)]
    if job.exits:
        lines.append(("ERROR", "launch.py:341:sigkill_handler", f"{commands[-1]} exits with return code = {job.exits[0][1]}"))
    elif job.cancelled:
        lines.append(("INFO", "launch.py:344:sigkill_handler", "Main process received SIGTERM, exiting"))
    elif not job.running:
        lines += [("INFO", "launch.py:367:main", f"Process {4000 + rank} exits successfully.") for rank in range(job.world)]
    return [f"[2026-11-16 05:31:03,{100 + i}] [{level}] [{place}] {text}" for i, (level, place, text) in enumerate(lines)]


def as_deepspeed(job, target):
    commands = [["/usr/bin/python3", "-u", "train.py", f"--local_rank={rank}"] for rank in range(job.world)]
    ranks = list(range(job.world))
    lines = [f"[2026-11-16 05:30:01,{100 + i}] [INFO] [launch.py:{place}:main] {text}" for i, (place, text) in enumerate(
        [(154, f"WORLD INFO DICT: {{'localhost': {ranks}}}"), (160, f"nnodes=1, num_local_procs={job.world}, node_rank=0"),
         (171, f"global_rank_mapping=defaultdict(<class 'list'>, {{'localhost': {ranks}}})"), (172, f"dist_world_size={job.world}")]
        + [(265, f"process {4000 + rank} spawned with command: {command}") for rank, command in enumerate(commands)])]
    lines += [line for _, _, text in each(job) for line in text]
    write(target / "deepspeed.log", "\n".join(lines + deepspeed_says(job, commands)) + "\n")
    copy(job, target)


def as_ray(job, target):
    lines = [f"(RayTrainWorker pid={9000 + rank}, ip=10.0.0.{rank // 4 + 2}) {line}" for _, rank, text in each(job) for line in text]
    write(target / "driver.log", "\n".join(lines) + "\n")
    copy(job, target)


def as_flat(job, target):
    for (attempt, rank), (out, err) in job.out.items():
        suffix = f"-try{attempt}" if max(a for a, _ in job.out) else ""
        write(target / f"rank{rank}{suffix}.stdout", out)
        write(target / f"rank{rank}{suffix}.stderr", err)
    copy(job, target, dumps=lambda rank: f"rank{rank}.fr", stacks=lambda rank: f"rank{rank}.stacks")


def as_hosts(job, target):
    """Two nodes, each with its own folder of torchrun: folders count local ranks."""
    half = (job.world + 1) // 2
    for (attempt, rank), (out, err) in job.out.items():
        node = rank // half
        base = target / f"run42/node{node}/logs/run42_{'ab'[node]}x7k2p9q/attempt_{attempt}/{rank % half}"
        write(base / "stdout.log", out)
        write(base / "stderr.log", err)
    copy(job, target, dumps=lambda rank: f"run42/node{rank // half}/tmp/nccl_trace_rank_{rank}",
         stacks=lambda rank: f"run42/node{rank // half}/stacks_rank{rank}.txt")


def as_archive(job, target):
    with tarfile.open(target / "job.tar.gz", "w:gz") as archive:
        archive.add(job.folder, arcname=job.folder.name)


LAYOUTS = {name[3:]: function for name, function in list(globals().items()) if name.startswith("as_")}
# Those that can be made of a job whose ranks wrote into one text, or which lies in folders of nodes.
OF_MIXED = ("torchrun", "archive")


def possible(truth, names):
    mixed = truth["output"] in ("launcher", "partly") or truth.get("nodes", 1) > 1
    return [name for name in names if name in OF_MIXED] if mixed else list(names)


def lay_out(job, name, target):
    target.mkdir(parents=True)
    LAYOUTS[name](job, target)
