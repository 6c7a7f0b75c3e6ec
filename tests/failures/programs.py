"""What programs, libraries and the interpreter say of themselves."""
from texts import Case, STEPS, failed, failure_list, entry, log, marked, raised, remote_error, timed_out, torchrun, trace


def of_rank_1(text):
    return {"rank0.err": STEPS + remote_error(0), "rank1.err": STEPS + text}


def barrier(rank, text):
    return STEPS + log(rank, "ProcessGroupGloo.cpp:67", text) + raised(rank, f"RuntimeError: {text}", "dist.monitored_barrier(group=control)")


REACHED = ("Rank {} successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 "
           "logs for faulty rank.")
CONNECTED = "[./gloo/transport/tcp/context.cc:243] INFO Rank 0 is connected to 2. Expected number of connected peers is: 2\n"
USAGE = "usage: train.py [-h] [--lr LR]\ntrain.py: error: the following arguments are required: --lr\n"

CASES = [
    # ---- files and memory
    Case("disk_full", of_rank_1(raised(1, "OSError: [Errno 28] No space left on device: '/ckpt/step_100.pt'", "torch.save(state, path)")),
         [1], "No space left"),
    Case("short_write", {"run.log": STEPS + trace("RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 1920 vs 1806")},
         [], "inline_container"),
    Case("open_files", {"run.log": STEPS + trace("OSError: [Errno 24] Too many open files: '/data/shard_17.bin'")}, [], "Too many open files"),
    Case("fork", {"run.log": STEPS + trace("OSError: [Errno 12] Cannot allocate memory", "for batch in loader:")}, [], "Cannot allocate memory"),
    Case("shared_memory", of_rank_1("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory "
                                    "(shm).\n\0" + raised(1, "RuntimeError: DataLoader worker (pid 7120) is killed by signal: Bus error. It is "
                                                          "possible that dataloader's workers are out of shared memory.")),
         [1], "Bus error"),
    # ---- a script that ended with an exception, and a shell that is done
    Case("shell_is_done", {"slurm-12.out": "loading data\n" + trace("KeyError: 'lr'") + "Job finished at Mon Nov 16 10:20:01 UTC 2026\n"}, [], "KeyError"),
    Case("shell_says_done", {"run.log": trace("ValueError: no such optimizer: adamx") + "done\n"}, [], "no such optimizer"),
    Case("shell_is_done_after_a_kill", {"slurm-12.out": STEPS + "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have "
                                        "been OOM Killed.\nall done\n"}, [], "oom_kill|OOM Killed"),
    Case("shell_is_done_in_the_other_text", {"rank0.out": STEPS + "all done\n", "rank0.err": trace("ValueError: no such optimizer: adamx"),
                                             "rank1.out": STEPS + "all done\n", "rank1.err": ""}, [0], "no such optimizer"),
    Case("shell_finds_no_python", {"slurm-12.out": "bash: line 3: python: command not found\ndone\n"}, [], "command not found"),
    Case("child_of_a_program_that_ends", {"run.log": CONNECTED + "Process Process-2:\nTraceback (most recent call last):\n"
                                          '  File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap\n    self.run()\n'
                                          '  File "/srv/fit.py", line 44, in worker\n    raise ValueError("bad shard")\nValueError: bad shard\n'
                                          "removing temporary files\nall workers are done\n"}, [0], "bad shard"),
    # ---- what is too long for a headline keeps its end, or says that it is cut
    Case("long_path", of_rank_1(raised(1, "OSError: [Errno 28] No space left on device: '/mnt/shared/checkpoints/team-a/run-0017/step_000100/shard_1.pt'")),
         [1], "No space left on device: '.../shard_1.pt' at train.py:40"),
    Case("long_native", of_rank_1(raised(1, "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
                                            "tried to allocate 1125899906842624 bytes. Error code 12 (Cannot allocate memory)")),
         [1], "DefaultCPUAllocator: can't allocate memory.* at train.py:40"),
    Case("long_end", of_rank_1(raised(1, "RuntimeError: DataLoader worker (pid 7120) is killed by signal: Segmentation fault.")),
         [1], "is killed by signal: Segmentation fault"),
    # ---- barriers, bars and watchdogs
    Case("monitored_barrier", {"rank0.err": barrier(0, "[Rank 0]: Ranks 3 failed to pass monitoredBarrier in 15000 ms"), "rank3.err": STEPS,
                               "rank1.err": barrier(1, REACHED.format(1)), "rank2.err": barrier(2, REACHED.format(2))},
         [3], "did not reach the monitored barrier"),
    Case("two_at_a_barrier", {"rank0.err": barrier(0, "[Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 300000 ms"), "rank1.err": STEPS,
                              "rank2.err": STEPS, "rank3.err": barrier(3, REACHED.format(3))}, [1, 2], "did not reach the monitored barrier"),
    Case("bar_before_traceback", {"run.log": "Epoch 0:  10%|#         | 1/10 [00:00<00:02,  4.10it/s, loss=2.3]"
                                  + raised(1, "ValueError: bad batch")}, [1], "ValueError: bad batch"),
    Case("bar_of_another", {"torchrun.txt": "[default0]:Epoch 0: 100%|##########| 2/2 [00:00<00:00,  4.11it/s, ][default1]:"
                            + marked("[default1]:", raised(1, "ValueError: bad batch")).removeprefix("[default1]:")}, [1], "ValueError: bad batch"),
    Case("watchdog_saw_assert", of_rank_1(log(1, "ProcessGroupNCCL.cpp:2119", "[PG ID 0 PG GUID 0(default_pg) Rank 1] Process group watchdog "
                                              "thread terminated with exception: CUDA error: device-side assert triggered")),
         [1], "Rank 1 died with CUDA error: device-side assert"),
    Case("told_by_signal", {f"rank{rank}.err": STEPS + f"[RANK{rank}] got signal 15, saving and leaving\n" for rank in range(2)}, [], "told to stop"),
    # ---- a key of the store that the program itself waits for
    Case("own_key", {f"rank{rank}.log": STEPS + (raised(1, "torch.distributed.DistStoreError: wait timeout after 8000ms, keys: "
                                                        "/default_pg/0//address/4/7") if rank == 1 else remote_error(rank)) for rank in range(3)},
         [1], "DistStoreError.*address/4/7.*train.py:40"),
    Case("key_of_another", {f"rank{rank}.log": STEPS + (raised(1, "torch.distributed.DistStoreError: wait timeout after 8000ms, keys: "
                                                               "/default_pg/0//address/4/2") if rank == 1 else timed_out(rank) if rank == 0 else "")
                            for rank in range(3)}, None, ""),
    # ---- one process is interrupted; a member never comes to the set-up
    Case("interrupted", {"torchrun.txt": STEPS + raised(1, "KeyboardInterrupt") + remote_error(0) + torchrun((1, 1), (0, -15))},
         [1], "KeyboardInterrupt"),
    Case("absent_from_gloo", {"torchrun.txt": 2 * trace("torch.distributed.DistStoreError: wait timeout after 15000ms, keys: /default_pg/0//cpu//0/2")
                              + torchrun((0, 1), (1, -15), (2, -15))}, [2], "Rank 2 did not join"),
    # ---- a mark that is no rank, of a process whose rank NCCL tells
    Case("ray_and_nccl", {"driver.log": "".join(
        f"(RayTrainWorker pid={9000 + rank}, ip=10.0.0.2) vm:{40 + rank}:{40 + rank} [0] NCCL INFO ncclCommInitRankConfig comm 0x30 rank {rank} nranks 2 "
        "cudaDev 0 nvmlDev 0 busId 60 commId 0x2f - Init COMPLETE\n" for rank in range(2))
        + "(RayTrainWorker pid=9001, ip=10.0.0.2) Fatal Python error: Segmentation fault\n"}, [1], "SIGSEGV|Segmentation"),
    # ---- start
    Case("no_module", {"run.log": trace("ModuleNotFoundError: No module named 'flash_attn'", "import flash_attn")}, [], "flash_attn"),
    Case("no_module_of_one_rank", {"torchrun.txt": trace("ModuleNotFoundError: No module named 'flash_attn'") + torchrun((1, 1), (0, -15))},
         [1], "flash_attn"),
    Case("symbol", {"run.log": trace("ImportError: /usr/lib/flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi")},
         [], "undefined symbol"),
    Case("glibc", {"run.log": "python: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by python)\n"},
         [], "GLIBC_2.34"),
    Case("arguments", {"run.log": "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --learning-rate 0.1\n"},
         [], "unrecognized arguments"),
    Case("arguments_of_all", {"torchrun.txt": USAGE * 2 + failed(0, 2, 4711) + failure_list(entry(0, 0, 2, 4711), entry(1, 1, 2, 4712))},
         [0, 1], "are required: --lr"),
    Case("no_script", {"run.log": "python: can't open file '/home/user/trian.py': [Errno 2] No such file or directory\n"}, [], "can't open file"),
    Case("no_launcher", {"slurm-12.out": "/var/spool/slurmd/job12/slurm_script: line 9: torchrun: command not found\n"}, [], "command not found"),
    Case("syntax", {"run.log": '  File "/home/user/train.py", line 12\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'},
         [], "SyntaxError: invalid syntax.*train.py:12"),
    # ---- hubs, data, frameworks
    Case("no_dataset", {"run.log": trace("datasets.exceptions.DatasetNotFoundError: Dataset 'org/corpus' doesn't exist on the Hub")},
         [], "DatasetNotFoundError: Dataset 'org/corpus'"),
    Case("hub_429", {"run.log": trace("huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hub/api")},
         [], "429"),
    Case("no_checkpoint", {"run.log": trace("ValueError: Can't find a valid checkpoint at /out/checkpoint-500")}, [], "valid checkpoint"),
    Case("megatron_nan", {"run.log": " [2026-11-15 23:22:09.123456] iteration       10/     100 | consumed samples:           80 | elapsed time "
                          "per iteration (ms): 512.3 | learning rate: 1.0E-04 | lm loss: 1.0E+01 |\n"
                          + raised(3, "RuntimeError: found NaN in local grad norm for bucket #0 in backward pass. Device: 3, node: node01")},
         [3], "NaN in local grad norm"),
    Case("sizes", {"run.log": trace("RuntimeError: Error(s) in loading state_dict for GPT:\n\tsize mismatch for wte.weight: copying a param")},
         [], "loading state_dict"),
    Case("assertion", of_rank_1(raised(1, "AssertionError: loss is not finite")), [1], "AssertionError: loss is not finite.*train.py:40"),
    # What Inductor wrote is nobody's line: the user's, which called it, is told.
    Case("compiled_code", {"run.log": STEPS + 'Traceback (most recent call last):\n  File "/home/user/train.py", line 40, in <module>\n    y = f(x, i)\n'
                           '  File "/scratch/cache/hg/c' + "hgpcqhig4qee6l2uvdsiy3rdr64bftctgo5q75gou4j27c4b6nz" + '.py", line 89, in call\n    cpp_fused_add_0(a, b)\n'
                           "RuntimeError: kernel, /scratch/cache/km/c" + "kmrzczfjdoedswvvyuyc5aqfwh7jca4fqyzfgedxuag5vf32oet"[1:] + ".main.cpp:23, "
                           "index out of bounds: 0 <= tmp7 < 4L\n"}, [], r"^RuntimeError: index out of bounds: 0 <= tmp7 < 4L at train\.py:40"),
    # ---- C and C++
    Case("free", of_rank_1("free(): invalid pointer\n"), [1], r"free\(\): invalid pointer"),
    Case("double_free", {"run.log": STEPS + "double free or corruption (!prev)\n"}, [], "double free"),
    Case("smashed_stack", {"run.log": STEPS + "*** stack smashing detected ***: terminated\n"}, [], "stack smashing"),
    Case("c_assertion", of_rank_1("python: ../src/loader.cc:42: void Loader::next(): Assertion `n > 0' failed.\n"), [1], "Assertion `n > 0'"),
    Case("fatal_error", of_rank_1("Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f82aa001140 (most recent call first):\n"
                                  '  File "/home/user/ops.py", line 41 in fused\n  File "/home/user/train.py", line 71 in <module>\n'),
         [1], "SIGSEGV.*ops.py:41"),
    Case("terminate", of_rank_1("terminate called after throwing an instance of 'std::runtime_error'\n  what():  shard 7 is truncated\n"),
         [1], "std::runtime_error: shard 7 is truncated"),
    # ---- one that names another
    Case("monitored_barrier", {f"rank{rank}.log": STEPS + (
        raised(0, "RuntimeError: Rank 3 failed to pass monitoredBarrier in 1800000 ms\n Original exception:") if rank == 0 else
        "" if rank == 3 else raised(rank, "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.1.2.3]:5123"))
        for rank in range(4)}, [3], "monitored barrier"),
]
