"""Last words of other accelerators, of native runtimes and of their compilers; messages that stand below the name of their exception."""
from texts import Case, STEPS, entry, failed, failure_list, log, raised, remote_error, stopping, trace

FAULT = "Memory access fault by GPU node-3 (Agent handle: 0x5a5c) on address 0x7098. Reason: Write access to a read-only page."
NINJA = trace("subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.")
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
LOST = ("ncclRemoteError: A call failed possibly due to a network error.\nLast error:\nNET/IB: Got completion from peer 10.0.3.4<50112> with "
        "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) len=0 vendor_err=129 (Recv) hca mlx5_1\n")
HEAD = "E0422 05:07:49.013000 204 torch/distributed/elastic/multiprocessing/api.py:732] "
MIXED = "\n".join(line for pair in zip(*(trace(f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU {gpu} has a total capacity of "
                                               "14.58 GiB of which 25.56 MiB is free.").splitlines() for gpu in range(2))) for line in pair) + "\n"
SINE = "sine - {}00/1024 (10m 5s)      | ll = -0.12\n"



def behind(text):
    return "".join(HEAD + line + "\n" for line in text.splitlines())


CASES = [
    Case("fault_behind_a_bar", {"job.log": STEPS + " 33%|###   | 411/1200 [4:51<8:54" + FAULT + ":54:01, 26.24s/it]\n" + stopping(6072)
                                + failed(1, -6, 6071)}, [1], "Memory access fault by GPU node-3"),
    Case("hang_of_a_gpu", {"job.log": STEPS + "HW Exception by GPU node-5 (Agent handle: 0x55d1) reason :GPU Hang\nAborted (core dumped)\n"},
         [], "aborted: HW Exception by GPU node-5"),
    Case("assertion_of_metal", {"job.log": STEPS + "/Sources/MPSNDArray.mm:782: failed assertion `[MPSNDArray, init] Error: buffer is not large enough.\n'\n"
                                "zsh: abort      python train.py\n"}, [], "buffer is not large enough"),
    Case("status_of_xla", {"job.log": STEPS + "F0000 00:00:17.466 9049 pjrt_client.cc:487] Non-OK-status: status: INTERNAL: device halted prematurely\n"},
         [], "Non-OK-status: status: INTERNAL: device halted"),
    Case("threads_of_openmp", {"job.log": "libgomp: Thread creation failed: Resource temporarily unavailable\n"}, [], "Thread creation failed"),
    Case("symbol_of_python", {"job.log": "python: symbol lookup error: /opt/libtorch_cuda.so: undefined symbol: ncclCommRegister\n"},
         [], "undefined symbol: ncclCommRegister"),
    Case("device_lost", {"job.log": STEPS + raised(1, "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)")},
         [1], "Rank 1 died: level_zero .*DEVICE_LOST. at train.py:40"),
    Case("message_below", {"job.log": trace("RuntimeError: \n        An attempt has been made to start a new process before the\n        current process has "
                                            "finished its bootstrapping phase.")}, [], r"start a new process before the\.\.\."),
    Case("extension", {"job.log": NINJA + CAUSE + trace("RuntimeError: Error building extension 'cpu_adam'")}, [], "Error building extension 'cpu_adam'"),
    Case("wrapped_twice", {"job.log": raised(0, "torch._inductor.exc.InductorError: LoweringException: NotImplementedError: View\n  target: aten.view")},
         [0], "with NotImplementedError: View at"),
    Case("message_before_words", {"job.log": trace("ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).")},
         [], "^Total number of attention heads .14. must be divisible by tensor parallel size"),
    Case("link_below_last_error", {"rank24.err": log(24, "ProcessGroupNCCL.cpp:612", "[Rank 24] Collective WorkNCCL(SeqNum=26, OpType=ALLREDUCE, NumelIn=1, "
                                                     "NumelOut=1, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process "
                                                     "exited or there was a network error, NCCL version 2.28.9") + LOST, "rank0.err": remote_error(0)},
         [], "10.0.3.4 over the network card mlx5_1"),
    # ---- texts of several processes
    Case("mixed_lines", {"job.log": MIXED + failed(0, 1, 5711)}, [0], "CUDA out of memory"),
    Case("behind_the_launchers_head", {"job.log": behind(trace("RuntimeError: Cannot re-initialize CUDA in forked subprocess.")) + failure_list(
        entry(0, 0, 1, 240)).split("\n", 1)[1]}, [0], "Cannot re-initialize CUDA in forked subprocess"),
    Case("child_of_a_failed_spawn", {"job.log": trace("AttributeError: Can't pickle local object 'f.<locals>.<lambda>'") + 'Traceback (most recent call '
                                     'last):\n  File "<string>", line 1, in <module>\n  File "/usr/lib/python3.10/multiprocessing/spawn.py", line 126, in '
                                     '_main\n    self = load(parent)\nEOFError: Ran out of input\n'}, [], "Can't pickle local object"),
    Case("exception_of_nccl_alone", {"job.log": "(pid=9097) pc:9097:337 [0] transport/p2p.cc:238 NCCL WARN failed to open CUDA IPC handle : 217\n(pid=9097) "
                                     "RuntimeError: NCCL error in: /src/ProcessGroupNCCL.cpp:784, unhandled cuda error, NCCL version 2.7.8\n"},
         [], "NCCL error: unhandled cuda error"),
    # ---- notes with pasted outputs, and documents
    Case("pasted", {"notes.md": "# run 12\n\nnode-1 says\n```\n" + raised(9, "KeyError: 'shard'") + "```\nany ideas?\n"}, [9], "KeyError: 'shard'"),
    Case("readme", {"README.md": "# FAQ\n\n```\n" + raised(9, "KeyError: 'shard'") + "```\nmeans a shard is missing\n", "job.log": STEPS}, healthy=True),
    # ---- healthy: a thread ended, and the program printed on
    Case("thread_of_a_service", {"job.log": "Exception in thread Thread-5:\n" + trace("urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='x'): "
                                 "Read timed out.") + "".join(SINE.format(i) for i in range(9))}, healthy=True),
]
