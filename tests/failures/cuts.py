"""Texts that are not whole: rotated, cut at the top or at the end, or broken at the width of a terminal; and what says that a job ended well after all."""
from texts import Case, STEPS, broken_pipe, marked, raised, remote_error, timed_out, torchrun, trace

DEEP = "".join(f'  File "/opt/app/pkg/mod{i}.py", line {100 + i}, in call{i}\n    return self.inner(*args)\n' for i in range(8))
HEAD = "Traceback (most recent call last):\n"
LAST = '  File "/opt/app/loop.py", line 233, in step\n    loss = self.loss(out, batch)\n'


def deep(exception, mark=""):
    return marked(mark, HEAD + DEEP + LAST + exception)


def last(text, count):
    return "".join(line + "\n" for line in text.splitlines()[-count:])


def broken(text, width):
    """As a terminal of this width shows it."""
    return "".join(line[at:at + width] + "\n" for line in text.splitlines() for at in range(0, max(len(line), 1), width))


BARS = "2026-11-15 22:22:58 | ERROR    | stderr - "
OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=77.batch. Some of the step tasks have been OOM Killed.\n"
SHELL = "/var/spool/slurmd/job00077/slurm_script: line 14: 231177 Killed                  python train.py\n"
LIGHTNING = "[rank: {}] Child process with PID 772 terminated with code {}. Forcefully terminating all other processes to avoid zombies\n"
ITERATIONS = "".join(f" [2026-11-15 23:10:{i:02}.123456] iteration {i:8}/    5000 | consumed samples: {i * 256:12} | elapsed time per iteration (ms): "
                     f"812.4 | learning rate: 1.5E-04 | lm loss: {9 - i * 0.01:.6E} | number of nan iterations:   0 |\n" for i in range(20))
MEMORY = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 79.15 GiB of which 1.12 GiB is "
          "free. Including non-PyTorch memory, this process has 78.02 GiB memory in use.")
PREEMPTED = "slurmstepd: error: *** JOB 88 ON n1 CANCELLED AT 2026-11-15T02:06:12 DUE TO PREEMPTION ***\n"
RETRIED = "ERROR upload failed (attempt 1/3)\n" + trace("ConnectionError: Could not connect to the endpoint") + "INFO upload succeeded\n"
TABLE = "+" + "-" * 78 + "+\n" + "".join(("| device %d  on" % i).ljust(79) + "|\n" for i in range(4)) + "=" * 80 + "\n"

CASES = [
    # ---- the top is missing
    Case("cut_frames", {f"rank_{r}.log": last(deep("ValueError: bad crop"), 5) if r == 2 else last(STEPS + remote_error(r), 4) for r in range(4)},
         [2], r"bad crop at loop\.py:233"),
    Case("cut_marked", {"torchrun.log": last(deep("IndexError: index 32000 is out of bounds", "[rank5]: "), 5) + torchrun((5, 1), (0, -15))},
         [5], "out of bounds at loop"),
    Case("cut_exception_alone", {"torchrun.log": "[rank5]: IndexError: index 32000 is out of bounds\n" + torchrun((5, 1), (0, -15))},
         [5], "out of bounds"),
    Case("cut_at_the_top", {"rank1.log": "    return forward(x)\nValueError: bad crop\nwaiting for other threads\n", "rank0.log": STEPS}, [1], "bad crop"),
    Case("cut_behind_heads", {"job.log": marked(BARS, last(deep("ValueError: bad crop"), 7))}, [], r"bad crop at loop\.py:233"),
    Case("cut_in_the_list", {"torchrun.log": last(torchrun((3, -11), (0, -15), (1, -15)), 8)}, [3], "SIGSEGV"),
    Case("cut_at_the_end", {"rank1.log": STEPS + HEAD + DEEP, "rank0.log": STEPS + remote_error(0)}, [1], "no longer names.*mod7"),
    Case("rotated", {"train.log.1": STEPS + HEAD + DEEP, "train.log": LAST + "KeyError: 'mask'\n"}, [], r"'mask'.* at loop\.py:233"),
    # ---- broken lines
    Case("broken_at_80", {"tmux.txt": broken(STEPS + raised(2, MEMORY) + torchrun((2, 1), (0, -15), (1, -15)), 80)}, [2], "out of memory.*2.00 GiB"),
    Case("broken_watchdogs", {f"rank{r}.log": broken(STEPS + timed_out(r) if r != 1 else raised(1, "ValueError: " + "very " * 30 + "bad crop"), 120)
                              for r in range(4)}, [1], "very bad crop"),
    Case("broken_list", {"tmux.txt": broken(STEPS + torchrun((6, -9), *((r, -15) for r in range(6))), 80)}, [6], "SIGKILL"),
    Case("one_broken_line", {"tmux.txt": broken(STEPS + PREEMPTED, 80)}, [], "preemption"),
    Case("broken_srun", {"tmux.txt": broken(ITERATIONS + "srun: error: gpu-a100-0123.cluster.internal.example.org: task 11: Out Of Memory\n"
                                            "slurmstepd: error: *** STEP 9.0 ON gpu-a100-0120 CANCELLED AT 2026-11-15T23:22:09 ***\n", 60)},
         [11], "out of memory"),
    Case("broken_and_healthy", {"tmux.txt": broken(ITERATIONS, 80)}, healthy=True),
    Case("rows_of_one_width", {"out.log": TABLE + ITERATIONS + trace("ZeroDivisionError: float division by zero")}, [], "ZeroDivision.*train.py:40"),
    Case("broken_warnings", {"rank1.log": broken(STEPS + broken_pipe(1), 120)}, healthy=True),
    # ---- killed for lack of memory
    Case("batch_out_of_memory", {"slurm-77.out": STEPS + SHELL + OOM}, [], "Slurm.*out of memory"),
    Case("list_and_out_of_memory", {"slurm-77.out": STEPS + torchrun((3, -9), (0, -15), (1, -15)) + OOM}, [3], "out of memory.*slurm"),
    Case("other_process_ids", {"torchrun.log": STEPS + torchrun((2, -9), (0, -15), (1, -15)),
                               "dmesg.txt": "[88012.1] Memory cgroup out of memory: Killed process 918273 (python) total-vm:912345kB\n"},
         [2], "kernel: out of memory"),
    # ---- Lightning's own kills, and others
    Case("killed_by_lightning", {"run.log": STEPS + raised(2, "ValueError: bad crop") + LIGHTNING.format(2, 1) + "Killed\n"}, [2], "bad crop"),
    Case("killed_after_lightning", {"run.log": STEPS + LIGHTNING.format(1, 1) + "Killed\nstarting again\n" + STEPS * 3
                                    + "run.sh: line 9:  9001 Killed                  python train.py\n"}, None, "SIGKILL|code 1"),
    # ---- ended well
    Case("error_behind_the_end", {"train.log": STEPS + "Training completed in 12.1 s\n[ERROR] could not sync, will retry\n"}, healthy=True),
    Case("error_behind_the_runtime", {"train.log": STEPS + "{'train_runtime': 812.1, 'train_loss': 1.23, 'epoch': 3.0}\nERROR: no sync\n"}, healthy=True),
    Case("error_and_code_0", {"job.log": STEPS + "[ERROR] could not push metrics\n", "exit.log": "Training finished with exit code 0\n"}, healthy=True),
    Case("error_of_one_that_ended_well", {
        "rank0.log": STEPS + "[ERROR] could not push metrics\n", "rank1.log": STEPS,
        "composer.log": "Global rank 0 (PID 4711) exited with code 0\nGlobal rank 1 (PID 4712) exited with code 0\n"}, healthy=True),
    Case("retried_before_the_end", {f"rank{r}.log": STEPS + RETRIED + "Training completed.\n" for r in range(2)}, healthy=True),
    Case("stack_of_a_warning", {"rank0.log": STEPS + "WARNING:root:slow\nStack (most recent call last):\n" + DEEP + "Epoch: 3\nFinal: 0.93\n"}, healthy=True),
    Case("started_again", {"slurm-88.out": STEPS + PREEMPTED + "resuming\n" + STEPS * 2 + "Training finished\n"}, healthy=True),
    Case("rotated_and_healthy", {"train.log.1": STEPS + trace("OSError: [Errno 5] Input/output error"), "train.log": STEPS * 2}, healthy=True),
    Case("put_aside_and_healthy", {"train.log.bak": STEPS + trace("OSError: [Errno 5] Input/output error"), "train.log": STEPS * 2}, healthy=True),
    Case("figure_in_the_last_line", {"train.log": STEPS + "MeanSquaredError: 0.0231\n"}, healthy=True),
    Case("figure_of_errors", {"train.log": STEPS + "Error: 12.5 % (top-1)\n"}, healthy=True),
    Case("fractions_are_steps", {"train.log": STEPS + trace("OSError: [Errno 5] Input/output error") + "".join(
        f"[{i}/1000] loss: 0.5\n" for i in range(60, 70))}, healthy=True),
]
