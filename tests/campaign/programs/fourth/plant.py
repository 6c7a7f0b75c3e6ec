"""What the programs share: whether this rank plants the job's fault now. The fault itself is written in each program, where users would have it."""
import os

FAULT, MARKS = os.environ.get("FAULT", ""), os.environ.get("FAULT_MARKS", "/tmp")
SICK = [int(rank) for rank in os.environ.get("FAULT_RANKS", "").split(",") if rank]
AT_STEP = int(os.environ.get("FAULT_STEP", "3"))


def own_rank():
    return int(os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))


def sick(fault, step=None, rank=None):
    """True on a sick rank in its step; it then leaves a mark, the proof that the fault was planted."""
    rank = own_rank() if rank is None else rank
    if FAULT != fault or rank not in SICK or step not in (None, AT_STEP):
        return False
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    open(os.path.join(MARKS, f"planted_{attempt}_{rank}"), "w").close()
    return True
