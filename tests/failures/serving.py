"""Servers of vLLM and SGLang: the worker behind a dead engine, and healthy logs with frightening lines.

The forms are those of vllm/v1/executor/multiproc_executor.py, vllm/v1/engine/core.py and core_client.py (0.8 to 0.19), of vllm/engine/multiprocessing
(0.6), and of sglang/srt/managers/scheduler.py, entrypoints/engine.py and utils/watchdog.py.
"""
from texts import Case, SITE

OOM = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.10 GiB of which 512.00 MiB is free.")
DEAD = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."
READY = "(APIServer pid=1) INFO:     Started server process [1]\n(APIServer pid=1) INFO:     Application startup complete.\n"
LOADED = "".join(f"(Worker_TP{rank} pid={500 + rank}) INFO 11-10 12:00:3{rank} [default_loader.py:268] Loading weights took 12.3{rank} seconds\n"
                 for rank in range(4))
WAITS = ("({} pid={}) INFO 11-10 12:{}:57 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically "
         "happens when some processes are hanging or doing some time-consuming work (e.g. compilation, weight/kv cache quantization).\n")


def logged(process, pid, text, place="core.py:710", level="ERROR", time="12:30:57"):
    """Each line with the head of vLLM's logger."""
    return "".join(f"({process} pid={pid}) {level} 11-10 {time} [{place}] {line}\n" for line in text.splitlines())


def frames(exception, *files):
    return "Traceback (most recent call last):\n" + "".join(
        f'  File "{SITE}/vllm/{file}", line {line}, in {function}\n    call()\n' for file, line, function in files) + exception + "\n"


def served(*rates, engine="APIServer", start=10):
    return "".join(f"({engine} pid=1) INFO 11-10 12:{start + i:02}:57 [loggers.py:127] Engine 000: Avg prompt throughput: 100.0 tokens/s, Avg generation "
                   f"throughput: {rate} tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%, Prefix cache hit rate: 0.0%\n"
                   for i, rate in enumerate(rates))


def dead_engine(reason="CUDA out of memory."):
    """What the engine and its clients print when a worker has failed."""
    return (logged("EngineCore_DP0", 413, "EngineCore encountered a fatal error.\n" + frames(
        f"RuntimeError: Worker failed with error '{reason}', please check the stack trace above for the root cause",
        ("v1/engine/core.py", 701, "run_engine_core"), ("v1/executor/multiproc_executor.py", 248, "get_response")))
        + dead_client() + logged("Worker_TP0", 500, "Parent process exited, terminating worker\nWorkerProc shutting down.",
                                 "multiproc_executor.py:558", "INFO"))


def dead_client():
    return (logged("APIServer", 1, "AsyncLLM output_handler failed.\n" + frames(DEAD, ("v1/engine/async_llm.py", 439, "output_handler")),
                   "async_llm.py:480") + "(APIServer pid=1) INFO:     Shutting down\n(APIServer pid=1) INFO:     Finished server process [1]\n")


WORKER_OOM = logged("Worker_TP1", 501, "WorkerProc hit an exception.\n" + frames(
    OOM, ("v1/executor/multiproc_executor.py", 600, "worker_busy_loop"), ("v1/worker/gpu_model_runner.py", 1204, "execute_model")),
    "multiproc_executor.py:596")
OLD_WORKER = "".join(f"(VllmWorker rank=2 pid=77) ERROR 05-06 16:54:45 [multiproc_executor.py:470] {line}\n" for line in (
    "WorkerProc hit an exception: Traceback (most recent call last):\n" + frames("RuntimeError: CUDA error: an illegal memory access was encountered",
                                                                               ("v1/worker/gpu_worker.py", 253, "execute_model"))
    .split("\n", 1)[1]).splitlines())


def tagged(rank, text, time="12:41:15"):
    return f"[2026-07-09 {time} TP{rank}] {text}\n"


SGLANG_START = "".join(tagged(rank, "Load weight begin. avail mem=78.4 GB", "12:40:01")
                       + tagged(rank, "Load weight end. elapsed=30.5 s, type=Llama, avail mem=66.05 GB, mem usage=14.1 GB.", "12:40:31")
                       for rank in range(4))
SGLANG_TRACE = ('  File "python/sglang/srt/managers/scheduler.py", line 4345, in run_scheduler_process\n    scheduler.event_loop()\n'
                '  File "python/sglang/srt/layers/sampler.py", line 485, in forward\n    sample()\n')
QUIT = ("[2026-07-09 12:41:16] Received sigquit from a child process. It usually means the child failed.\n"
        "[2026-07-09 12:41:16] SIGQUIT received. signum=None, frame=None. It usually means one child failed.\nKilled\n")
DECODE = tagged(0, "Decode batch, #running-req: 4, #token: 7936, token usage: 0.10, cuda graph: True, gen throughput (token/s): 110.2, #queue-req: 0")
ASGI = ('(APIServer pid=1) ERROR:    Exception in ASGI application\n' + "".join(f"(APIServer pid=1) {line}\n" for line in frames(
    "ValueError: bad request", ("entrypoints/openai/api_server.py", 300, "chat")).splitlines()))

CASES = [
    Case("vllm_worker_oom", {"server.log": LOADED + READY + served(5.0, 6.0) + WORKER_OOM + dead_engine()}, [1], "CUDA out of memory"),
    Case("vllm_worker_start", {"server.log": LOADED + logged("Worker_TP3", 503, "WorkerProc failed to start.\n" + frames(
        "ValueError: Unknown quantization method: fp3", ("v1/worker/gpu_worker.py", 180, "load_model")), "multiproc_executor.py:533")
        + logged("EngineCore_DP0", 413, "EngineCore failed to start.\n" + frames(
            "Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.",
            ("v1/executor/multiproc_executor.py", 98, "_init_executor")))
        + "(APIServer pid=1) " + frames("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
                                         ("v1/engine/utils.py", 793, "wait")).replace("\n", "\n(APIServer pid=1) ").strip() + "\n"},
         [3], "Unknown quantization method"),
    Case("vllm_data_parallel", {"server.log": "".join(
        f"(Worker_DP{data}_TP{rank}_EP{2 * data + rank} pid={600 + 2 * data + rank}) INFO 11-10 12:00:30 [gpu_worker.py:100] ready\n"
        for data in range(2) for rank in range(2)) + WORKER_OOM.replace("Worker_TP1 pid=501", "Worker_DP1_TP0_EP2 pid=602")
        + dead_engine().replace("EngineCore_DP0", "EngineCore_DP1")}, [2], "CUDA out of memory"),
    Case("vllm_worker_gone", {"server.log": LOADED + READY + served(5.0) + logged(
        "EngineCore_DP0", 413, "Worker proc VllmWorker-2 died unexpectedly, shutting down executor.", "multiproc_executor.py:231")
        + dead_client()}, [2], "died unexpectedly"),
    Case("vllm_worker_rank_mark", {"server.log": OLD_WORKER + "ERROR 05-06 16:54:45 [multiproc_executor.py:123] Worker proc VllmWorker-2 died "
                                   "unexpectedly, shutting down executor.\n"}, [2], "illegal memory access"),
    Case("vllm_one_gpu", {"server.log": READY.replace("APIServer pid=1", "APIServer pid=9") + logged(
        "EngineCore_DP0", 79, "EngineCore encountered a fatal error.\n" + frames(
            "RuntimeError: CUDA error: device-side assert triggered", ("v1/worker/gpu_model_runner.py", 900, "execute_model"))) + dead_client()},
         [0], "device-side assert"),
    Case("vllm_no_marks", {"server.log": "".join(f"ERROR 04-06 14:45:45 [core.py:386] {line}\n" for line in (
        "EngineCore hit an exception: " + frames("KeyError: 'layers.0.mlp.gate_up_proj.weight'", ("v1/engine/core.py", 377, "run"),
                                               ("model_executor/models/gemma3.py", 80, "load_weights"))).splitlines())
        + "CRITICAL 04-06 14:45:45 [core_client.py:359] Got fatal signal from worker processes, shutting down. See stack trace above for root cause "
          "issue.\nKilled\n"}, [], "KeyError"),
    Case("vllm_v0_process", {"server.log": "INFO 05-12 12:11:25 metrics.py:334] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 3.1 "
                             "tokens/s, Running: 1 reqs\nERROR 05-12 12:11:31 multiproc_worker_utils.py:120] Worker VllmWorkerProcess pid 1234 died, "
                             "exit code: -9\nINFO 05-12 12:11:31 multiproc_worker_utils.py:124] Killing local vLLM worker processes\n"},
         [], "SIGKILL|out-of-memory"),
    Case("vllm_hang", {"server.log": LOADED + READY + served(5.0, 6.0, 7.0) + "".join(
        WAITS.format("EngineCore_DP0", 413, minute) for minute in range(14, 19)) + served(0.0, 0.0, start=20)}, [], "hangs"),
    Case("vllm_hang_names_worker", {"server.log": LOADED + READY + served(5.0, 6.0, 7.0) + "".join(
        WAITS.format(f"Worker_TP{rank}", 500 + rank, minute) for minute in range(14, 17) for rank in (0, 1, 3)) + logged(
            "EngineCore_DP0", 413, "EngineCore encountered a fatal error.\n" + frames(
                "TimeoutError: RPC call to execute_model timed out.", ("v1/executor/multiproc_executor.py", 250, "get_response")))
        + dead_client()}, None, "rank 2|RPC call"),
    Case("sglang_scheduler", {"server.log": SGLANG_START + DECODE + tagged(
        2, "Scheduler hit an exception: Traceback (most recent call last):").rstrip("\n") + "\n" + SGLANG_TRACE
        + "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0\n\n" + QUIT}, [2], "probability tensor"),
    Case("sglang_attention_dp", {"server.log": "".join(f"[2026-07-05 19:45:29.924 DP{rank} TP{rank} EP{rank}] KV Cache is allocated. #tokens: 3\n"
                                                      for rank in range(4))
                                 + "[2026-07-05 19:49:44.257 DP1 TP1 EP1] Scheduler hit an exception: Traceback (most recent call last):\n"
                                 + SGLANG_TRACE + OOM + "\n\n" + QUIT}, [1], "CUDA out of memory"),
    Case("sglang_one_gpu", {"server.log": "[2026-02-27 09:27:52] Load weight begin. avail mem=78.4 GB\n[2026-02-27 09:27:55] Scheduler hit an exception: "
                            "Traceback (most recent call last):\n" + SGLANG_TRACE + "AssertionError: fp8 is not supported\n\n" + QUIT},
         [], "fp8 is not supported"),
    Case("sglang_killed", {"server.log": SGLANG_START + DECODE + "[2026-08-12 11:48:55] Subprocess scheduler_3 (pid=986533) crashed with exit code -9. "
                           "Triggering SIGQUIT for cleanup...\n" + QUIT}, [3], "SIGKILL"),
    Case("sglang_dead_at_start", {"server.log": SGLANG_START + "[2026-07-01 15:20:44] Rank 1 scheduler is dead. Please check if there are relevant logs.\n"
                                  "[2026-07-01 15:20:46] Exit code: -9\n" + frames("EOFError", ("engine.py", 1, "launch")).replace("vllm", "sglang")},
         [1], "SIGKILL"),
    Case("sglang_watchdog", {"server.log": SGLANG_START + DECODE + "".join(tagged(
        rank, "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)") for rank in range(4)) + QUIT}, None, "watchdog timeout"),
    # Healthy servers.
    Case("vllm_serves", {"server.log": LOADED + "".join(WAITS.format("EngineCore_DP0", 413, minute) for minute in range(1, 8)) + READY
                         + served(*[5.0, 0.0] * 12)}, healthy=True),
    Case("vllm_bad_requests", {"server.log": LOADED + READY + served(5.0, 6.0) + ASGI + logged(
        "APIServer", 1, "Error in preprocessing prompt inputs\n" + frames("ValueError: This model's maximum context length is 4096 tokens.",
                                                                        ("entrypoints/openai/serving_chat.py", 200, "create")),
        "serving_chat.py:200")}, healthy=True),
    Case("vllm_waited_and_went_on", {"server.log": LOADED + READY + served(5.0, 6.0) + "".join(
        WAITS.format("EngineCore_DP0", 413, minute) for minute in range(14, 19)) + served(5.0, 6.0, 7.0, start=20)}, healthy=True),
    Case("vllm_rpc_of_user_failed", {"server.log": LOADED + READY + served(5.0) + WORKER_OOM + served(5.0, 6.0, 7.0, start=20)}, healthy=True),
    Case("vllm_shut_down", {"server.log": LOADED + READY + served(5.0, 0.0) + "(APIServer pid=1) INFO:     Shutting down\n" + logged(
        "EngineCore_DP0", 413, "Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", "multiproc_executor.py:231") + dead_client()},
         healthy=True),
    Case("vllm_interrupted", {"server.log": LOADED + READY + served(5.0) + "^C" + logged(
        "EngineCore_DP0", 413, "Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", "multiproc_executor.py:231")
        + "(EngineCore_DP0 pid=413) " + frames("KeyboardInterrupt", ("v1/engine/core.py", 701, "run")).replace(
            "\n", "\n(EngineCore_DP0 pid=413) ").strip() + "\n" + dead_client()}, healthy=True),
    Case("sglang_drained", {"server.log": SGLANG_START + DECODE + "[2026-09-14 20:17:38] SIGTERM received. signum=None frame=None. Draining requests and "
                            "shutting down...\n[2026-09-14 20:17:42] Gracefully exiting... Remaining number of requests 0. Remaining requests "
                            "remaining_rids=[].\nterminate called without an active exception\nKilled\n"}, healthy=True),
]
CASES += [
    Case("vllm_compose", {"server.log": "".join(f"qwen-32b  | {line}\n" for line in (LOADED + READY + served(5.0, 6.0) + WORKER_OOM + dead_engine())
                                               .splitlines())}, [1], "CUDA out of memory"),
    Case("sglang_segfault", {"server.log": SGLANG_START + "Fatal Python error: Segmentation fault\n\n[2026-07-01 15:20:44] Rank 0 scheduler is dead. Please "
                             "check if there are relevant logs.\n[2026-07-01 15:20:45] Child process unexpectedly failed with an exit code 11. pid=2931\n"
                             "[2026-07-01 15:20:46] Exit code: -11\n" + frames("EOFError", ("engine.py", 1, "launch")).replace("vllm", "sglang")},
         [0], "SIGSEGV"),
    Case("sglang_waited_for_a_peer", {"server.log": "[2026-02-27 09:27:52 TP0] Load weight begin. avail mem=78.4 GB\n[2026-02-27 09:27:55 TP0] Scheduler hit an "
                                      "exception: Traceback (most recent call last):\n" + SGLANG_TRACE + "Exception: Capture cuda graph failed: [/pytorch/"
                                      "third_party/gloo/gloo/buffer.cc:133] Timed out waiting 1800000ms for send operation to complete\n\n" + QUIT},
         [], "Capture cuda graph failed: Timed out waiting 1800000ms"),
    Case("tensorrt_hang", {"server.log": "[11/15/2026-10:40:00] [TRT-LLM] [RANK 0] [E] Hang detected on rank 0 in PyExecutor.\n"}, [], "server hangs"),
    Case("vllm_killed_by_kernel", {"server.log": LOADED + READY + served(5.0) + logged(
        "EngineCore_DP0", 413, "Worker proc VllmWorker-2 died unexpectedly, shutting down executor.", "multiproc_executor.py:231") + dead_client(),
        "dmesg.txt": "[123456.7] Out of memory: Killed process 502 (VLLM::Worker_TP) total-vm:123kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB\n"},
        [2], "kernel.*out of memory"),
    Case("vllm_offline_start", {"out.log": logged("EngineCore_DP0", 900, "EngineCore failed to start.\n" + frames(
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`.",
        ("v1/core/kv_cache_utils.py", 716, "check_enough_kv_cache_memory")))
        + 'Traceback (most recent call last):\n  File "/home/user/gen.py", line 5, in <module>\n    llm = LLM("m")\n'
          "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"}, [0], "No available memory"),
    Case("vllm_v0_dead", {"out.log": "INFO 12-01 10:02:01 metrics.py:449] Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 30.2 tokens/s\n"
                          + "".join(f"ERROR 12-01 10:02:05 engine.py:135] {line}\n" for line in frames(
                              "RuntimeError: CUDA error: an illegal memory access was encountered",
                              ("worker/model_runner.py", 1679, "execute_model")).splitlines())
                          + "ERROR 12-01 10:02:06 client.py:282] vllm.engine.multiprocessing.MQEngineDeadError: Engine loop is not running. Inspect the "
                            "stacktrace to find the original error\nINFO:     Shutting down\nINFO:     Finished server process [1]\n"},
         [], "illegal memory access"),
    Case("sglang_interrupted", {"server.log": "[2026-07-09 12:40:31] Load weight end. elapsed=30.5 s, type=Llama, avail mem=66.05 GB\n"
                                "^CTraceback (most recent call last):\n  File \"/usr/lib/python3.12/asyncio/runners.py\", line 118, in run\n    run()\n"
                                "KeyboardInterrupt\n" + QUIT}, healthy=True),
    Case("vllm_script_leaves_its_engine", {"out.log": "INFO 01-16 17:16:40 [llm.py:300] Supported tasks: ['embed']\nscores: 0.71 0.33\n"
                                           + "ERROR 01-16 17:16:49 [core_client.py:605] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.\n"},
         healthy=True),
    Case("vllm_on_ray", {"server.log": "".join(f"(RayWorkerWrapper pid=2211, ip=10.0.0.3) ERROR 11-10 12:30:57 [worker_base.py:620] {line}\n" for line in (
        "Error executing method 'execute_model'. This might cause deadlock in distributed execution.\n" + frames(
            OOM, ("worker/worker_base.py", 612, "execute_method"))).splitlines())}, None, "CUDA out of memory"),
]
