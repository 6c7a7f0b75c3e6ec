"""Output that a log service, a host's log or a program's own logger kept in its own form, and ranks that only neighbours tell."""
import json

from texts import Case, STEPS, raised, remote_error, timed_out, trace


def records(text, **beside):
    """Each line as the message of a record."""
    return "".join(json.dumps({"message": line, "timestamp": 1794650400000, **beside}) + "\n" for line in text.splitlines())


def pods(texts):
    """One export of all pods, as Stackdriver names them."""
    return "".join(json.dumps({"textPayload": line, "timestamp": "2026-11-15T23:22:09.1Z", "resource": {"labels": {"pod_name": pod}}}) + "\n"
                   for pod, text in texts.items() for line in text.splitlines())


def journal(program, pid, text):
    return "".join(f"Nov 15 23:22:09 node01 {program}[{pid}]: {line}\n" for line in text.splitlines())


def journal_json(pid, text):
    return "".join(json.dumps({"MESSAGE": line, "_HOSTNAME": "node01", "_PID": str(pid), "__REALTIME_TIMESTAMP": "1794650400000000"}) + "\n"
                   for line in text.splitlines())


def structlog(rank, event, **more):
    return json.dumps({"event": event, "level": "info", "rank": rank, "timestamp": "2026-11-15T23:22:09Z", **more}) + "\n"


def headed(form, rank, text):
    return "".join(form.format(rank, line) + "\n" for line in text.splitlines())


BAD = "ValueError: bad batch"
JOINED = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 2/3 clients joined."
BARRIER = ("torch.distributed.DistStoreError: Timed out initializing process group in store based barrier on rank: {}, for key: "
           "store_based_barrier_key:1 (world_size=4, num_workers_joined=3, timeout=0:30:00)")
CALL = "Rank {} is running collective: CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, TensorShape=[{}], TensorDtypes=Float)"
BRACKETS, BARS = "[2026-11-15 23:22:09,590][rank {}/4][ERROR] {}", "2026-11-15 23:22:09 | rank{} | ERROR | {}"
NAMES = ["6f1c4e1a-9b7d-4c2f-8d0e-1f2a3b4c5d60", "a0be4e1a-9b7d-4c2f-8d0e-1f2a3b4c5d61", "77d24e1a-9b7d-4c2f-8d0e-1f2a3b4c5d62"]
RAY = ("ray.exceptions.RayTaskError(ValueError): ray::_RayTrainWorker__execute.get_next() (pid=8103, ip=10.2.0.6, actor_id=4f)\n"
       '  File "/home/user/loop.py", line 33, in train\n    raise ValueError("bad batch")\n' + BAD)


def mismatch(rank, other, sizes):
    return raised(rank, "RuntimeError: Detected mismatch between collectives on ranks. " + CALL.format(rank, sizes[rank]) + ", but "
                  + CALL.format(other, sizes[other]) + ".Collectives differ in the following aspects: Tensor shapes")


CASES = [
    Case("cloudwatch", {f"task-{r}.json": records(STEPS + (raised(2, BAD) if r == 2 else remote_error(r)), logStreamName=f"job/algo-{r}-1794650400")
                        for r in range(3)}, [2], "bad batch"),
    Case("record_of_many_lines", {f"task-{r}.json": records(STEPS) + json.dumps({
        "message": raised(1, BAD) if r == 1 else remote_error(r), "timestamp": 1794650400000}) + "\n" for r in range(3)}, [1], "bad batch"),
    Case("stackdriver", {"export.jsonl": pods({"job-worker-0-xk2lp": STEPS + remote_error(0), "job-worker-1-bcdfg": STEPS + remote_error(1),
                                               "job-worker-2-zz2xw": STEPS + trace(BAD)})}, [2], "bad batch"),
    Case("sagemaker", {f"algo-{r}.json": records(headed("[1,mpirank:{},algo-1]<stderr>:{}", r, STEPS + (trace(BAD) if r == 1 else "")))
                       for r in range(2)}, [1], "bad batch"),
    Case("structlog", {f"proc{r}.jsonl": structlog(r, "start") + structlog(r, "ready") + (
        structlog(1, "failed", exception=trace(BAD)) if r == 1 else "") for r in range(3)}, [1], "bad batch"),
    Case("journal", {"journal.txt": "".join(journal(f"trainer-rank{r}", 4710 + r, STEPS + (trace(BAD) if r == 1 else remote_error(r)))
                                            for r in range(3))}, [1], "bad batch"),
    Case("journal_json", {"journal.json": "".join(journal_json(4710 + r, STEPS + (raised(1, BAD) if r == 1 else remote_error(r)))
                                                  for r in range(3))}, [1], "bad batch"),
    Case("heads_with_brackets", {"train.log": "".join(headed(BRACKETS, r, STEPS + (trace(BAD) if r == 3 else "")) for r in range(4))},
         [3], "bad batch"),
    Case("heads_of_first_lines", {"train.log": "".join(headed(BARS, r, STEPS) for r in range(4)) + BARS.format(2, "failed") + "\n" + trace(BAD)},
         [2], "bad batch"),
    Case("labels_behind_a_script", {"job.out": "loading modules\nstarting 4 tasks\n" + headed("{}: {}", 0, trace(BAD))
                                    + "srun: error: n1: task 0: Exited with exit code 1\n"}, [0], "bad batch"),
    Case("environment_beside", {f"runs/{NAMES[r]}/{name}": text for r in range(3) for name, text in {
        "env.txt": f"RANK={r}\nWORLD_SIZE=3\n", "stderr.log": trace(BAD) if r == 2 else raised(r, JOINED)}.items()}, [2], "bad batch"),
    Case("the_last_of_its_siblings", {f"runs/{NAMES[r]}/stderr.log": trace(BAD) if r == 1 else raised(r, JOINED) for r in range(3)},
         [1], "bad batch"),
    Case("index_of_a_job", {f"train-job-{r}-{end}.log": STEPS + (trace(BAD) if r == 3 else remote_error(r)) for r, end in enumerate(
        ("xz2k4", "bcdfg", "zz2xw", "xk2lp"))}, [3], "bad batch"),
    Case("containers_on_their_nodes", {f"pods/job-{r}-{end}.log": headed("2026-11-15T23:22:09.1Z stderr F {1}", r, STEPS + (
        trace(BAD) if r == 2 else remote_error(r))) for r, end in enumerate(("xz2k4", "bcdfg", "zz2xw"))}, [2], "bad batch"),
    Case("never_came", {f"rank{r}.log": "loading\n" if r == 0 else raised(r, BARRIER.format(r)) for r in range(4)}, [0], "did not come"),
    Case("calls_compared", {f"rank{r}.log": mismatch(r, 0 if r == 2 else 2, {0: 10, 1: 10, 2: 20, 3: 10}) for r in range(4)},
         [2], "all_reduce 12.*20.*10"),
    Case("actor_of_ray", {"driver.log": "".join(f"(TorchTrainer pid=8000) - (node_id=a, ip=10.2.0.{r + 4}, pid={8101 + r}) world_rank={r}, "
                                                f"local_rank=0, node_rank={r}\n" for r in range(4)) + trace(RAY)}, [2], "bad batch"),
    Case("left_among_losers", {f"rank{r}.log": STEPS + ("leaving early\n" if r == 1 else remote_error(r) if r in (0, 2) else timed_out(r))
                               for r in range(8)}, [1], "rank 1|Rank 1"),
    # ---- what launchers and kernels say of one process among many
    Case("mpi_abort_in_two_lines", {"mpi.log": STEPS + trace(BAD) + "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith "
                                    "errorcode 42.\n"}, [2], "bad batch|42"),
    Case("raylet_lost_a_worker", {"driver.log": "".join(f"(TorchTrainer pid=8000) - (node_id=a, ip=10.2.0.{r + 4}, pid={8101 + r}) world_rank={r}, "
                                                        f"local_rank=0, node_rank={r}\n" for r in range(4)) + "(raylet, ip=10.2.0.6) A worker died or "
                                  "was killed while executing a task by an unexpected system error. Worker ID: ab Worker PID: 8103 Worker exit type: "
                                  "SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n"},
         [2], "SIGKILL|SYSTEM_ERROR"),
    Case("same_addresses_on_two_hosts", {
        **{f"node0{r // 2}/rank{r}.log": f"node0{r // 2}:47{r}:47{r} [{r % 2}] NCCL INFO ncclCommInitRank comm 0x1 rank {r} nranks 4 cudaDev {r % 2} "
           f"nvmlDev {r % 2} busId {r % 2 + 1}a000 commId 0x9 - Init COMPLETE\n" + STEPS + remote_error(r) for r in range(4)},
        "node01/dmesg.txt": "[88012.1] NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"},
        [2], "Xid 79"),
    # ---- healthy
    Case("caught_before_steps", {f"rank{r}.log": STEPS + "sample 881 is broken\n" + trace("OSError: broken data stream") + STEPS + "done\n"
                                 for r in range(2)}, healthy=True),
    Case("records_that_go_on", {f"rank{r}.jsonl": structlog(r, "metrics unreachable", level="error") + "".join(
        structlog(r, f"batch {i} done") for i in range(9)) for r in range(2)}, healthy=True),
    Case("journal_that_goes_on", {"journal.txt": journal("python3", 4711, STEPS) + "Nov 15 23:22:09 node01 sshd[99]: error: Connection closed\n"
                                  + journal("python3", 4711, STEPS + "done\n")}, healthy=True),
]
