"""Pieces of output that many cases share, and what a case is."""
import dataclasses

SITE = "/usr/lib/python3.12/site-packages"
STEPS = "".join(f"step {step} loss {2.5 - step * 0.1:.2f}\n" for step in range(5))
SIGNALS = {6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
BAR, RULE = "=" * 60, "-" * 60


@dataclasses.dataclass
class Case:
    name: str
    files: dict
    ranks: list = None
    reason: str = ""
    healthy: bool = False
    step: str = ""


def marked(mark, text):
    """Each line with PyTorch's mark in front, as it prints exceptions that nobody caught."""
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def trace(exception, call="loss = step(batch)", mark=""):
    return marked(mark, f'Traceback (most recent call last):\n  File "/home/user/train.py", line 71, in <module>\n    main()\n'
                        f'  File "/home/user/train.py", line 40, in main\n    {call}\n'
                        f'  File "{SITE}/torch/nn/modules/module.py", line 1779, in _call_impl\n    return forward_call(*args)\n{exception}')


def raised(rank, exception, call="loss = step(batch)"):
    return trace(exception, call, f"[rank{rank}]: ")


def log(rank, place, text, level="E", time="23:22:28.258"):
    return f"[rank{rank}]:[{level}1115 {time} {place}] {text}\n"


def remote_error(rank, peer="node02<41234>"):
    """What the neighbours of a process print when it is gone."""
    return (log(rank, "ProcessGroupNCCL.cpp:612", f"[Rank {rank}] Collective WorkNCCL(SeqNum=26, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
                "Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, "
                "NCCL version 2.28.9")
            + "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"
            f"Last error:\nsocketProgress: Connection closed by remote peer {peer}\n")


def broken_pipe(rank):
    """The store was in rank 0's process."""
    return (log(rank, "TCPStore.cpp:125", "[c10d] recvValue failed on SocketImpl(fd=66, addr=[localhost]:36712, remote=[localhost]:29500): "
                "Connection reset by peer", "W", "23:22:30.258")
            + log(rank, "ProcessGroupNCCL.cpp:1662", f"[PG ID 0 PG GUID 0 Rank {rank}] Failed to check the \"should dump\" flag on TCPStore, "
                  "(maybe TCPStore server has shut down too early), with error: Broken pipe", "W", "23:22:30.259"))


def timed_out(rank):
    return log(rank, "ProcessGroupNCCL.cpp:689", f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=38, "
               "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600089 milliseconds before timing out.", time="23:32:28.258")


def backend_error(rank, what, last):
    return raised(rank, f"torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, {what}, NCCL version 2.26.2\n"
                        f"ncclError: see below.\nLast error:\n{last}")


def stopping(*pids):
    return "".join(f"W1115 23:22:09.590000 1320 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process {pid} closing signal "
                   "SIGTERM\n" for pid in pids)


def failed(local_rank, code, pid):
    return (f"E1115 23:22:10.130000 1320 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: {code}) "
            f"local_rank: {local_rank} (pid: {pid}) of binary: /usr/bin/python\n")


def entry(number, rank, code, pid, traceback=None):
    told = (f"Signal {-code} ({SIGNALS[-code]}) received by PID {pid}" if code < 0
            else "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html")
    return (f"[{number}]:\n  time      : 2026-11-15_23:22:10\n  host      : node01\n  rank      : {rank} (local_rank: {rank})\n"
            f"  exitcode  : {code} (pid: {pid})\n  error_file: <N/A>\n  traceback : {traceback or told}\n")


def failure_list(first, *others):
    return (f"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{BAR}\ntrain.py FAILED\n{RULE}\nFailures:\n"
            + ("".join(others) or "  <NO_OTHER_FAILURES>\n") + f"{RULE}\nRoot Cause (first observed failure):\n{first}{BAR}\n")


def torchrun(first, *others):
    """torchrun's text: (rank, code) of the first failure and of the others; pids are 4711 and up."""
    return (stopping(*(4711 + rank for rank, _ in others)) + failed(*first, 4711 + first[0])
            + failure_list(entry(0, *first, 4711 + first[0]), *(entry(i + 1, rank, code, 4711 + rank) for i, (rank, code) in enumerate(others))))
