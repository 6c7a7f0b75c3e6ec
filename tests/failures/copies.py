"""Texts as people and services keep them: behind heads that no launcher prints, without indentation, of old versions, with paths of Windows."""
from texts import Case, STEPS, failed, raised, remote_error, timed_out, trace

BAD = "ValueError: bad batch"
# What stands before line {0} of the text.
HEADS = {
    "quoted": "> ",
    "streams": "stderr: ",
    "clock": "18:19:{0:02}.687 ",
    "clock_in_brackets": "[06:01:{0:02}] ",
    "date_and_clock": "2026/11/15 09:19:{0:02} ",
    "level": "2026-11-15 16:13:{0:02} [ERROR]  ",
    "bars": "2026-11-15 22:22:{0:02} | ERROR    | stderr - ",
    "milliseconds": "17946504{0:02}366 localhost info ",
    "task_of_a_workflow": "2026-11-15 06:01:{0:02}.977 [177/train/578 (pid 28936)] [7c56-a44c] ",
    "step_of_a_pipeline": "train\tRun training\t2026-11-15T22:22:{0:02}.8791234Z ",
    "rows_of_a_table": "  | 2026-11-15T22:22:{0:02}.879Z | ",
    "numbers_in_brackets": "[807{0:02}] ",
    "numbers_set_right": "{0:6}\t",
    "name_of_a_run": "[run-7f3a] ",
    "colours": "\x1b[32m[2026-11-15 09:19:{0:02}] \x1b[0m",
}


def behind(head, text):
    return "".join(head.format(number) + line + "\n" for number, line in enumerate(text.splitlines()))


LONG = "".join(f"step {step} loss {2.5 - step * 0.0001:.4f}\n" for step in range(5000))  # more than is looked at first
ONE = STEPS + trace(BAD)
MANY = STEPS + timed_out(1) + raised(0, "KeyError: 'image_id'") + failed(0, 1, 1321)

BOX = r"""
+ Traceback (most recent call last) +
| C:\work\train.py:864 in <module>                                                     |
|                                                                                      |
|   863 |                                                                              |
| > 864 |   train(args)                                                                |
|                                                                                      |
| C:\work\venv\lib\site-packages\torch\nn\modules\module.py:1130 in _call_impl         |
+-------------------------------------------------------------------------------------+
RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 24.00 GiB total capacity)
""".replace("+ Trace", "\u256d\u2500 Trace").replace("\n| ", "\n\u2502 ").replace("|\n", "\u2502\n").replace("> 8", "\u2771 8")

FIRST_LIST = """torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
***************************************
         train.py FAILED
=======================================
Root Cause:
[0]:
  time: 2026-11-15_15:39:58
  rank: 2 (local_rank: 2)
  exitcode: -9 (pid: 14380)
  error_file: <N/A>
  msg: "Signal 9 (SIGKILL) received by PID 14380"
=======================================
Other Failures:
  <NO_OTHER_FAILURES>
***************************************
"""
ONE_LINE_LIST = ("[1]: time : 2026-11-15_22:22:58 host : algo-2 rank : 3 (local_rank: 3) exitcode : -6 (pid: 190) error_file: <N/A> traceback : Signal 6 "
                 "(SIGABRT) received by PID 190\nRoot Cause (first observed failure): [0]: time : 2026-11-15_22:22:58 host : algo-2 rank : 2 "
                 "(local_rank: 2) exitcode : -11 (pid: 189) error_file: <N/A> traceback : Signal 11 (SIGSEGV) received by PID 189\n")
CUT = ("E1115 01:17:26.952000 521 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6) local_rank: 6 (pid\n"
       ": 541332) of binary: /opt/bin/python\nTraceback (most recent call last):\n  File \"/opt/bin/accelerate\", line 8, in <module>\n"
       "    sys.exit(main())\n  File \"/opt/lib/python3.11/site-packages/accelerate/commands/launch.py\", line 48, in main\n    args.func(args)\n")
SIGNAL = ("[node7:236649] *** Process received signal ***\n[node7:236649] Signal: Segmentation fault (11)\n[node7:236649] Signal code: Address not mapped "
          "(1)\n[node7:236649] [ 0] /lib64/libpthread.so.0(+0xf5d0)[0x2b09b2d695d0]\n[node7:236649] *** End of error message ***\n")
HUB = ("OSError: /home/user/models/exported/vision_language_policy_100000 does not appear to have a file named config.json. Checkout "
       "'https://hub.example/home/user/models/tree/None' for available files.")

NOTEBOOK = """---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[12], line 3
      1 for batch in loader:
      2     optimizer.zero_grad()
----> 3     loss = model(batch)
      4     loss.backward()

File /usr/lib/python3.12/site-packages/torch/nn/modules/module.py:1518, in Module._call_impl(self, *args)
   1516 else:
-> 1518     return forward_call(*args)

File ~/proj/model.py:44, in Net.forward(self, x)
     43 def forward(self, x):
---> 44     return self.head(x)

ValueError: bad batch
"""
OLD_NOTEBOOK = """---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
<ipython-input-7-3b1f> in <module>
----> 1 train(config)

/content/proj/train.py in train(config)
     31     for step in range(n):
---> 32         x = batch["image_id"]

KeyError: 'image_id'
"""
STATE = ("RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for head.weight: copying a param with shape torch.Size([10, 512]) from "
         "checkpoint, the shape in current model is torch.Size([100, 512]).")
PORT = ("torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: 0, code: -98, name: "
        "EADDRINUSE, message: address already in use")
WARNED = "2026-11-15 10:00:0{0} | WARNING | trainer | OOM: ran out of memory with exception: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0)\n"

SCRIPT = "".join(f"2026-11-15 22:22:58,879 sagemaker-training-toolkit {text}\n" for text in (
    "INFO     Waiting for the process to finish and give a return code.", "INFO     Done waiting for a return code. Received 1 from exiting process.",
    "ERROR    Reporting training FAILURE", "ERROR    ExecuteUserScriptError:")) + (
        'ExitCode 1\nErrorMessage "ValueError: bad batch"\nCommand "/opt/bin/python train.py --epochs 3"\n')

CASES = [
    Case("notebook", {"job.log": STEPS + NOTEBOOK}, [], r"bad batch at model\.py:44"),
    Case("notebook_of_old", {"job.log": STEPS + OLD_NOTEBOOK}, [], "image_id"),
    Case("box", {"job.log": STEPS + BOX.replace("C:\\work\\", "/home/user/").replace("\\", "/")}, [], r"CUDA out of memory.*train\.py:864"),
    Case("container_of_compose", {"job.log": STEPS + "train-worker-1 exited with code 137\n"}, [], "SIGKILL"),
    Case("memory_limit_of_slurm", {"slurm-7.out": STEPS + "slurmstepd: error: Job 7 exceeded memory limit (67200000 > 67108864), being killed\nslurmstepd: "
                                   "error: *** JOB 7 ON n01 CANCELLED AT 2026-11-15T10:11:12 ***\n"}, [], "memory limit"),
    Case("program_that_slurm_misses", {"slurm-7.out": "slurmstepd: error: execve(): torchrun: No such file or directory\n"}, [], "torchrun: No such file"),
    Case("check_of_a_library", {"job.log": STEPS + "2026-11-15 00:40:44.197201: F external/xla/pjrt_client.cc:12] Check failed: rank < size (8 vs. 8)\n"},
         [], "Check failed: rank < size"),
    Case("list_below_the_exception", {"job.log": trace(STATE)}, [], "size mismatch for head.weight"),
    Case("port_in_use", {"job.log": raised(0, PORT)}, [0], "port 29500: address already in use"),
    Case("interrupted_by_hand", {"job.log": STEPS + trace("KeyboardInterrupt")}, [], "was interrupted"),
    Case("requeued", {"slurm-7.out": STEPS + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-15T02:06:12 DUE TO JOB REQUEUE ***\nsrun: error: n1: tasks "
                      "2-3: Exited with exit code 1\n"}, [], "requeued"),
    Case("child_of_lightning_under_ray", {"job.log": "(tune pid=946) Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4\n(tune pid=946) [rank: 1] Child process "
                                          "with PID 1026 terminated with code 1. Forcefully terminating all other processes to avoid zombies\n(raylet) A worker died or "
                                          "was killed while executing a task by an unexpected system error. Worker ID: fa Worker PID: 946 Worker exit type: "
                                          "SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n"}, [1], "code 1"),
    Case("rank_of_horovodrun", {"job.log": "Process 2 exit with status code 137.\n" + trace("RuntimeError: Horovod detected that one or more processes exited with "
                                "non-zero status, thus causing the job to be terminated. The first process to do so was:")}, [2], "SIGKILL"),
    Case("killed_under_zsh", {"job.log": STEPS + "[1]    22946 killed     python train.py\n"}, [], "SIGKILL"),
    Case("fault_under_zsh", {"job.log": STEPS + "zsh: segmentation fault  python train.py\n"}, [], "SIGSEGV"),
    Case("target_of_make", {"job.log": STEPS + "make: *** [Makefile:12: train] Error 137\n"}, [], "SIGKILL"),
    Case("replica_of_a_service", {"job.log": STEPS + "The replica workerpool0-0 exited with a non-zero status of 1.\n"}, [], "exit code 1"),
    Case("script_of_a_service", {"job.log": ONE + SCRIPT}, [], "bad batch at train.py:40"),
    Case("last_line_is_an_exception", {"job.log": STEPS + "ModuleNotFoundError: No module named 'flash_attn'\n"}, [], "No module named 'flash_attn'"),
    Case("last_line_is_an_error", {"job.log": STEPS + "[ERROR] could not read shard 17\n"}, [], "could not read shard 17"),
    Case("healthy_container_of_compose", {"job.log": STEPS + "train-worker-1 exited with code 0\n"}, healthy=True),
    Case("healthy_after_a_warning", {"job.log": STEPS + WARNED.format(1) + "epoch 1 done\n" + WARNED.format(2) + "done training in 10 s\n"}, healthy=True),
    *(Case(f"behind_{name}", {"job.log": behind(head, ONE)}, [], "bad batch at train.py:40") for name, head in HEADS.items()),
    *(Case(f"ranks_behind_{name}", {"job.log": behind(head, MANY)}, [0], "image_id.*train.py:40") for name, head in HEADS.items()),
    Case("behind_a_head_at_the_end", {"job.log": behind("18:19:06.{0} ", LONG + trace(BAD))}, [], "bad batch at train.py:40"),
    Case("head_with_a_rank", {"job.log": behind("[node 1 | rank 3] ", STEPS + trace(BAD))}, [3], "bad batch"),
    Case("file_a_rank_behind_heads", {f"log{name}.txt": behind("18:19:{0:02}.687 ", STEPS + (raised(rank, BAD) if rank == 2 else remote_error(rank)))
                                      for rank, name in enumerate("abc")}, [2], "bad batch"),
    Case("without_indentation", {"job.log": "\n".join(line.strip() for line in ONE.splitlines()) + "\n"}, [], "bad batch at train.py:40"),
    Case("paths_of_windows", {"job.log": STEPS + trace("OSError: [WinError 1455] The paging file is too small for this operation to complete.")
                              .replace("/home/user/", "D:\\work\\").replace("/usr/lib/python3.12/site-packages/", "D:\\py\\lib\\site-packages\\")
                              .replace("/", "\\")}, [], r"paging file.* at train\.py:40|paging file"),
    Case("box_of_windows", {"job.log": STEPS + BOX}, [], r"CUDA out of memory"),
    Case("list_of_the_first_torchrun", {"job.log": FIRST_LIST}, [2], "SIGKILL"),
    Case("list_in_one_line", {"job.log": ONE_LINE_LIST}, [2], "SIGSEGV"),
    Case("cut_behind_the_launchers_frames", {"job.log": CUT}, [], "SIGABRT"),
    Case("signal_handler_of_mpi", {"job.log": STEPS + SIGNAL}, [], "SIGSEGV"),
    Case("no_step_of_slurm", {"slurm-7.out": "Loading modules\nsrun: error: Unable to create step for job 7: More processors requested than "
                              "permitted\n"}, [], "More processors"),
    Case("bus_error_of_a_worker", {"job.log": STEPS + "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared "
                                   "memory (shm).\n"}, [], "bus error"),
    Case("end_of_a_long_message", {"job.log": trace(HUB)}, [], "config.json"),
    # ---- healthy
    *(Case(f"healthy_behind_{name}", {"job.log": behind(head, STEPS + trace(BAD) + STEPS + "skipped one batch\n" + STEPS + "done\n")}, healthy=True)
      for name, head in HEADS.items()),
    Case("caught_by_pytorchs_logger", {"job.log": STEPS + behind("E1115 23:22:09.590000 1320 torch/_inductor/select_algorithm.py:2100] [0/0] ", trace(
        "NoValidChoicesError: no choice")) + STEPS + "done\n"}, healthy=True),
]
