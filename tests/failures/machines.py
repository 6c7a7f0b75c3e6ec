"""Kernels, drivers, GPUs, NCCL, networks, stores."""
from texts import Case, STEPS, backend_error, broken_pipe, log, raised, remote_error, timed_out, torchrun, trace

GROUP = "[PG ID 0 PG GUID 0(default_pg) Rank {}] "
INIT = "node01:{}:{} [{}] NCCL INFO ncclCommInitRankConfig comm 0x1 rank {} nranks 2 cudaDev {} nvmlDev 0 busId {}000 commId 0x11 - Init COMPLETE\n"
DUPLICATE = "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 4b000"
OOM = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.20 GiB is "
       "free. Process 99 has 40.00 GiB memory in use. Of the allocated memory 30.00 GiB is allocated by PyTorch, and 7.10 GiB is reserved by "
       "PyTorch but unallocated.")
ASYNC = "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect."


def of_rank_1(text):
    """The output of rank 1, beside that of a neighbour that lost it."""
    return {"rank0.err": STEPS + remote_error(0), "rank1.err": STEPS + text}


CASES = [
    # ---- kernel and driver
    Case("xid_79", {
        "dmesg.txt": "[12345.678901] NVRM: Xid (PCI:0000:4b:00): 79, pid=4712, name=python, GPU has fallen off the bus.\n[12345.678950] NVRM: "
                     "Xid (PCI:0000:4b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n",
        "rank0.err": remote_error(0),
        "rank1.err": log(1, "ProcessGroupNCCL.cpp:2119", GROUP.format(1) + "Process group watchdog thread terminated with exception: CUDA "
                         "error: unspecified launch failure"),
        "torchrun.txt": torchrun((1, -6), (0, -15))}, [1], "fallen off the bus"),
    Case("xid_of_no_known_rank", {
        "dmesg.txt": "[Sun Nov 15 23:22:01 2026] NVRM: Xid (PCI:0000:4b:00): 94, pid='<unknown>', name=<unknown>, Contained: SM (0x1)\n",
        "rank0.err": remote_error(0), "rank1.err": remote_error(1)}, [], "A GPU failed: contained memory error .Xid 94."),
    Case("xid_nvlink", {
        "kern.log": "Nov 15 23:22:09 node01 kernel: NVRM: Xid (PCI:0000:19:00): 145, pid=4711, name=python, RLW_CTRL Nonfatal Link 05\n",
        "rank0.err": INIT.format(4711, 4711, 0, 0, 0, 19), "rank1.err": INIT.format(4712, 4712, 1, 1, 1, 20) + remote_error(1)},
         [0], "NVLink error"),
    Case("segfault_in_kernel_log", {
        "dmesg.txt": "[88012.1] python[4712]: segfault at 0 ip 00007f12 sp 00007ffc error 4 in libtorch_cpu.so[7f12+1000]\n",
        "torchrun.txt": torchrun((1, -11), (0, -15)), "rank0.err": remote_error(0)}, [1], "SIGSEGV"),
    Case("blocked_task", {
        "dmesg.txt": "[9000.1] INFO: task python:4712 blocked for more than 120 seconds.\n",
        "rank0.err": INIT.format(4711, 4711, 0, 0, 0, 19) + timed_out(0), "rank1.err": INIT.format(4712, 4712, 1, 1, 1, 20)},
         [1], "blocked in the kernel"),
    Case("out_of_memory_killer", {
        "kern.log": "Nov 15 23:22:09 node01 kernel: python invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0\nNov 15 23:22:09 "
                    "node01 kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task=python,"
                    "pid=4712,uid=1000\nNov 15 23:22:09 node01 kernel: Out of memory: Killed process 4712 (python) total-vm:912345kB\n",
        "torchrun.txt": torchrun((1, -9), (0, -15))}, [1], "killed by the kernel: out of memory"),
    # ---- CUDA
    Case("ecc_error", of_rank_1(raised(1, f"torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered\n{ASYNC}")),
         [1], "uncorrectable ECC error"),
    Case("illegal_access", of_rank_1(raised(1, f"RuntimeError: CUDA error: an illegal memory access was encountered\n{ASYNC}")),
         [1], "illegal memory access.*train.py:40"),
    Case("memory_of_a_peer", {"rank0.err": raised(0, f"torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink or a "
                                                   f"hardware error\n{ASYNC}"), "rank1.err": raised(1, "ValueError: bad batch")},
         [1], "bad batch"),
    Case("cublas", {"rank0.err": raised(0, "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`")},
         [0], "CUBLAS_STATUS_NOT_INITIALIZED"),
    Case("cudnn", {"run.log": STEPS + trace("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED")}, [], "CUDNN_STATUS_NOT_INITIALIZED"),
    Case("no_gpu", {"run.log": trace("RuntimeError: No CUDA GPUs are available")}, [], "No CUDA GPUs"),
    Case("old_driver", {"run.log": trace("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).")}, [], "too old"),
    Case("out_of_gpu_memory", of_rank_1(raised(1, OOM)), [1], "CUDA out of memory"),
    Case("out_of_gpu_memory_first", {**of_rank_1(raised(1, OOM)), "torchrun.txt": torchrun((0, -6), (1, 1))}, [1], "CUDA out of memory"),
    # ---- NCCL
    Case("shm_of_nccl", of_rank_1(backend_error(1, "unhandled system error (run with NCCL_DEBUG=INFO for details)",
                                                "Error while creating shared memory segment /dev/shm/nccl-aBcDeF (size 9637888)")),
         [1], "creating shared memory segment"),
    Case("no_interface", {"rank0.err": "node01:4711:4711 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n"
                          + backend_error(0, "internal error - please report this issue to the NCCL developers",
                                          "Bootstrap : no socket interface found")}, [0], "no socket interface found"),
    Case("duplicate_gpu", {f"rank{rank}.err": backend_error(rank, "invalid usage (run with NCCL_DEBUG=WARN for details)", DUPLICATE)
                           for rank in range(2)}, [0, 1], "Duplicate GPU"),
    Case("port_of_host", {
        "rank0.err": "[2026-11-15 23:22:09] node01:4711:4800 [0] transport/net_ib.cc:120 NCCL WARN NET/IB : mlx5_3:1 async fatal event: local "
                     "catastrophic error\n" + remote_error(0), "rank1.err": remote_error(1)}, [0], "mlx5_3"),
    Case("link", {
        "rank0.err": "node01:4711:4800 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.7<51234> with status=IBV_WC_RETRY_EXC_ERR(12) "
                     "opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send hca mlx5_3\n" + remote_error(0), "rank1.err": remote_error(1)},
         [], "10.0.0.7.*mlx5_3"),
    Case("refused_alone", {
        "rank1.err": backend_error(1, "remote process exited or there was a network error",
                                   "socketPollConnect: connect to 10.0.0.7<41995> returned Connection refused, exceeded error retry count"),
        "torchrun.txt": torchrun((1, 1), (0, -15), (2, -15))}, [1], "set up a communicator"),
    Case("watchdog_stuck", {
        "rank0.err": log(0, "ProcessGroupNCCL.cpp:1785", GROUP.format(0) + "ProcessGroupNCCL's watchdog got stuck for 480 seconds without "
                         "making progress in monitoring enqueued collectives."), "rank1.err": remote_error(1)}, [0], "watchdog"),
    Case("interpreter_lock", {
        "rank1.err": log(1, "ProcessGroupNCCL.cpp:1785", GROUP.format(1) + "Could not acquire GIL within 300 ms on exit, possible GIL induced "
                         "hang"), "rank0.err": timed_out(0)}, [1], "GIL"),
    Case("monitor_of_ras", {"ras.log": "[2026-11-15 23:20:09] PEER_NEW: Process 4711 on node 10.0.0.1 managing GPU 0\n"
                                       "[2026-11-15 23:22:09] PEER_DEAD: Process 4712 on node 10.0.0.2 managing GPU 0\n",
                            "rank0.err": INIT.format(4711, 4711, 0, 0, 0, 19) + remote_error(0),
                            "rank1.err": INIT.format(4712, 4712, 1, 1, 1, 20)}, [1], "dead|exited"),
    # ---- peers after the first death
    Case("peers_lose_the_store", {"rank0.err": raised(0, "ValueError: bad batch"), "rank1.err": broken_pipe(1) + remote_error(1),
                                  "rank2.err": broken_pipe(2), "torchrun.txt": torchrun((0, 1), (1, -6), (2, -15))}, [0], "bad batch"),
    Case("launcher_sees_a_peer_first", {"rank0.err": remote_error(0), "rank1.err": raised(1, "ValueError: bad batch"),
                                        "torchrun.txt": torchrun((0, -6), (1, 1))}, [1], "bad batch"),
    # ---- store and rendezvous
    Case("store_timeout", {f"rank{rank}.err": raised(rank, "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /ready/0")
                           for rank in (1, 2)}, None, "store"),
    Case("clients", {"rank0.err": raised(0, "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients "
                                         "joined.")}, None, "join"),
    Case("rendezvous_timeout", {"torchrun.txt": trace("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError")}, [], "[Rr]endezvous"),
    Case("rendezvous_lost", {"torchrun.txt": trace("torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the "
                                                   "C10d store has failed. See inner exception for details.")}, [], "[Rr]endezvous|store"),
    Case("address_in_use", {"rank0.err": raised(0, "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
                                                "network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address "
                                                "already in use")}, [0], "failed to listen"),
]
