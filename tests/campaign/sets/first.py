"""The jobs of the campaign: program, fault, rank, step and launcher options, drawn with a fixed seed.

Each fault stands in two or three jobs; a quarter of all jobs is healthy. Rules may be written looking at these (half "tune");
the score that counts is that of sets/kept.py.
"""
import random

# Faults that need a program with such a place.
ONLY = {"stuck_save": ["checkpointing"], "stuck_metrics": ["evaluation"], "extra_barrier": ["evaluation"], "no_send": ["ring"],
        "wrong_peer": ["ring"], "loader_stuck": ["loader"], "loader_exception": ["loader"], "loader_killed": ["loader"]}
STEP_PROGRAMS = ["ddp", "fsdp2", "accumulation", "evaluation", "checkpointing", "loader"]
ALL_PROGRAMS = STEP_PROGRAMS + ["tensor_parallel", "pipeline", "ring", "experts"]
BEFORE_OPTIMIZER = ["ddp", "fsdp2", "accumulation", "pipeline", "experts"]
PROGRAMS_OF_PLACE = {"before_forward": ["ddp", "fsdp2", "accumulation", "tensor_parallel", "pipeline", "loader"],
                     "before_optimizer": BEFORE_OPTIMIZER, "before_backward": ["ddp", "fsdp2", "tensor_parallel"], "step": ALL_PROGRAMS,
                     "sync_all": STEP_PROGRAMS + ["experts", "ring"]}
FAULT_PLACES = {
    "stuck_io": "before_forward", "stuck_loop": "before_forward", "gil": "before_optimizer", "lock": "before_optimizer",
    "stuck_save": None, "stuck_metrics": None, "stopped": "before_forward", "spin_gpu": "before_forward", "loader_stuck": None,
    "extra_collective": "before_forward", "extra_barrier": None, "skipped_step": "step", "left": "step", "data_ended": "step",
    "size": "sync_all", "type": "sync_all", "op": "sync_all", "order": "sync_all", "absent": "sync_all", "no_send": None,
    "wrong_peer": None, "exception": "before_forward", "all_fail": "step", "oom": "before_backward",
    "device_assert": "before_forward", "sigkill": "before_forward", "segfault": "before_forward", "abort": "before_optimizer",
    "exit_code": "step", "exit_at_once": "before_optimizer", "nan_check": "before_optimizer", "missing_module": "step",
    "loader_exception": None, "loader_killed": None, "restart": "before_forward", "scheduler": "step"}


def _add_more(jobs, add):
    """Each fault once more, in another program."""
    done = {(job["program"], job["fault"]) for job in jobs}
    for fault, place in FAULT_PLACES.items():
        programs = [p for p in (ONLY.get(fault) or PROGRAMS_OF_PLACE[place]) if (p, fault) not in done] or ONLY.get(fault)
        add(random.choice(programs), fault, dumps=random.random() < 0.9)


def all_jobs(seed=2026):
    random.seed(seed)
    jobs = []

    def add(program, fault, **more):
        name = f"{fault or 'healthy'}_{program}"
        while name in (job["name"] for job in jobs):
            name += "_b"
        world = random.choice([4, 4, 4, 4, 6, 8] if program == "tensor_parallel" else [3, 4, 4, 4, 5, 8])
        jobs.append({"name": name, "program": program, "fault": fault, "world": world, "rank": random.randrange(world),
                     "at_step": random.randrange(3, 9),
                     "output": random.choice(["redirect", "redirect", "tee", "launcher"]), "nccl_info": random.random() < 0.3,
                     "stacks": random.random() < 0.3, "talkative": random.random() < 0.4, "dumps": random.random() < 0.8, **more})

    for fault, place in FAULT_PLACES.items():
        programs = ONLY.get(fault) or PROGRAMS_OF_PLACE[place]
        for program in random.sample(programs, min(2, len(programs))):
            add(program, fault)
        if fault in ONLY:
            add(programs[0], fault)
    for program in ALL_PROGRAMS:
        add(program, None)
        add(program, None, dump_at=9)
    add("ddp", None, nccl_info=True, output="tee", talkative=True)
    add("pipeline", None, nccl_info=True, output="launcher")
    add("experts", None, stacks=True, dump_at=12)
    add("ddp", "caught")
    add("fsdp2", "slow_step")
    _add_more(jobs, add)
    for job in jobs:
        # A save, an evaluation happens every fifth step.
        if job["fault"] in ("stuck_save", "stuck_metrics", "extra_barrier"):
            job["at_step"] = 4 if job["at_step"] < 6 else 9
        if job["fault"] in ("all_fail", "caught"):
            job["rank"] = -1
        # A GPU shared through MPS dies with the first crash of its clients; the launcher needs a second attempt for restarts.
        job["restarts"] = 1 if job["fault"] == "restart" else 0
        job["half"] = "tune"
    return jobs
