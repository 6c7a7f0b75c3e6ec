"""Reasons and what to do about each; kernel logs of other drivers; what runtimes print below an exception."""
import json

from texts import Case, STEPS, failed, log, marked, raised, trace

# What the exception says, and what its next step speaks of.
REASONS = {
    "quota_of_folder": ("OSError: [Errno 122] Disk quota exceeded: '/home/u/optim.pt'", "quota"),
    "read_only": ("OSError: [Errno 30] Read-only file system: '/scratch/log.jsonl'", "dmesg"),
    "transport_endpoint": ("OSError: [Errno 107] Transport endpoint is not connected: '/mnt/s3/a.parquet'", "mount"),
    "parquet": ("pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer.", "file is whole"),
    "ancdata": ("RuntimeError: received 0 items of ancdata", "open files"),
    "no_engine": ("RuntimeError: FIND was unable to find an engine to execute this computation", "cuDNN"),
    "cublas_execution": ("RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx(handle, opa)`", "CUDA_LAUNCH_BLOCKING"),
    "fabric_manager": ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized", "fabric manager"),
    "driver_libraries": ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver", "reboot"),
    "busy_gpu": ("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable", "exclusive"),
    "unknown_cuda": ("RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment", "nvidia-smi"),
    "bf16": ("ValueError: Your setup doesn't support bf16/gpu. You need Ampere GPU with cuda>=11.0", "compute capability"),
    "nccl_memory": ("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:94, unhandled cuda error, NCCL version 2.26.2\n"
                    "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'", "less GPU memory"),
    "interface": ("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:94, internal error, NCCL version 2.26.2\n"
                  "ncclInternalError: Internal check failed.\nLast error:\nBootstrap : no socket interface found", "NCCL_SOCKET_IFNAME"),
    "tpu_in_use": ("RuntimeError: Bad StatusOr access: UNKNOWN: TPU initialization failed: open(/dev/accel0): Operation not permitted", "lsof"),
    "ccl": ("RuntimeError: oneCCL: global.cpp:150 getenv_local_coord: EXCEPTION: to get local_idx/count from ATL", "mpirun"),
    "groups_of_optimizer": ("ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group", "checkpoint"),
    "weights_only": ("_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options", "add_safe_globals"),
    "c_compiler": ("torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC", "gcc"),
    "kernel_of_triton": ("triton.compiler.errors.CompilationError: at 12:17: arange's range must be a power of 2", "powers of 2"),
    "unsupported": ("torch._dynamo.exc.Unsupported: Data-dependent branching", "torch.cond"),
    "glibcxx": ("ImportError: /lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /opt/fused.so)", "image"),
    "library": ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "LD_LIBRARY_PATH"),
    "abi": ("RuntimeError: operator torchvision::nms does not exist", "built for each other"),
    "dll": ("OSError: [WinError 126] The specified module could not be found.", "Visual C"),
    "not_installed": ("ImportError: \n LlamaConverter requires the protobuf library but it was not found in your environment.", "Install"),
    "interpolation": ("omegaconf.errors.InterpolationKeyError: Interpolation key 'output_dir' not found", "configuration"),
    "circular": ("AttributeError: partially initialized module 'dataset' has no attribute 'build' (most likely due to a circular import)", "Rename"),
    "nan_of_backward": ("RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.", "nan or inf"),
    "in_place": ("RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation", "set_detect_anomaly"),
    "samples": ("RuntimeError: stack expects each tensor to be equal size, but got [3, 8] at entry 0 and [1, 8] at entry 9", "collate_fn"),
    "dtype": ("RuntimeError: expected scalar type Long but found Float", "Cast"),
    "gated": ("OSError: You are trying to access a gated repo.", "HF_TOKEN"),
    "offline": ("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled", "HF_HOME"),
    "weights_of_another": ("KeyError: 'model.layers.3.indexer.wq_b.weight'", "checkpoint"),
    "map_died": ("RuntimeError: One of the subprocesses has abruptly died during map operation.", "more memory"),
    "shared_segment": ("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:94, unhandled system error, NCCL version 2.26.2\nncclSystemError: System "
                       "call failed.\nLast error:\nError while creating shared memory segment /dev/shm/nccl-a (size 33), error: No space left on device (28)", "shm"),
    "one_device_for_two": ("RuntimeError: CUDASymmetricMemoryAllocator::rendezvous: detected allocations from overlapping devices", "set_device"),
    "flash_dtype": ("RuntimeError: FlashAttention only support fp16 and bf16 data type", "Cast"),
    "architecture": ("RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)", "torch.version.cuda"),
    "compressed": ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte", "gzip"),
    "rate": ("botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation", "Fewer"),
    "template": ("ValueError: Cannot use chat template functions because tokenizer.chat_template is not set", "chat_template"),
    "sizes_of_peers": ("RuntimeError: [3]: params[0] in this process with sizes [7] appears not to match sizes of the same param in process 0.", "same model"),
}
NPU = "RuntimeError: InnerRunOpApi:torch_npu/OpParamMaker.cpp:274 OPS function error: HcclAllreduce, error code is 6\n"
HCCP = ("RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64\n[ERROR] 2026-05-21-11:57:54 (PID:27000, Device:5, "
        "RankID:5) ERR02200 DIST call hccl api failed.\nEJ0001: 2026-05-21-11:57:54.167.645 Failed to initialize the HCCP process. Reason: Maybe the last "
        "training process is running.\n        Solution: Wait for 10s after killing the last training process and try again.")
CORE = ("RuntimeError: operator():build/compiler_depend.ts:31 NPU function error: c10_npu::acl::AclrtSynchronizeStreamWithTimeout(copy_stream), error code "
        "is 507035\n[ERROR] 2026-04-29-18:46:11 (PID:16924, Device:1, RankID:-1) ERR00100 PTA call acl api failed\n[Error]: The vector core execution is "
        "abnormal.")
SOCKET = NPU + ("[ERROR] 2026-03-02-09:11:20 (PID:77120, Device:3, RankID:3) ERR01100 OPS call acl api failed.\nEI0006: [PID: 77120] 2026-03-02-09:11:20.414.120 "
                "Getting socket times out. Reason: Remote Rank did not send the data in time. Please check the reason for the rank being stuck")
XLA = ("RuntimeError: RESOURCE_EXHAUSTED: From /job:localservice/replica:0/task:0:\n2 root error(s) found.\n  (0) RESOURCE_EXHAUSTED: Attempting to reserve "
       "10.51G at the bottom of memory.")
RING = ("Feb 25 19:15:03 n7 kernel: amdgpu 0000:c5:00.0: amdgpu: Dumping IP State\nFeb 25 19:15:03 n7 kernel: amdgpu 0000:c5:00.0: amdgpu: ring comp_1.1.1 "
        "timeout, signaled seq=151, emitted seq=153\nFeb 25 19:15:04 n7 kernel: amdgpu 0000:c5:00.0: amdgpu: GPU reset begin!. Source:  3\n")
CARD = ("[1290331.1] mlx5_core 0000:9a:00.0: poll_health:800:(pid 0): device's health compromised - reached miss count\n[1290331.1] mlx5_core 0000:9a:00.0: "
        "print_health_info:425:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:\n")
LINK = "Jul 11 02:01:09 n17 kernel: mlx5_core 0000:5e:00.0 ib2: Link {}\n"
WATCHDOG = log(11, "ProcessGroupNCCL.cpp:683", "[Rank 11] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9012, OpType=ALLREDUCE, NumelIn=4, "
               "NumelOut=4, Timeout(ms)=600000) ran for 600071 milliseconds before timing out.")
BOX = ("╭" + "─" * 21 + " Traceback (most recent call last) " + "─" * 22 + "╮\n" + f"│ {'/home/user/train.py:71 in <module>':<76} │\n│ {'❱ 71     main(cfg)':<76} │\n"
       + f"│ {'/home/user/fit.py:87 in fit':<76} │\n│ {'❱ 87     loss = step(batch)':<76} │\n" + "╰" + "─" * 78 + "╯\n")
LONG = "RuntimeError: The size of tensor a (512) must match the size of tensor b (1024) \nat non-singleton dimension 1\n"
WRITER = (trace("RuntimeError: [enforce fail at inline_container.cc:858] . PytorchStreamWriter failed writing file data/322: file write failed")
          + "\nDuring handling of the above exception, another exception occurred:\n\n"
          + trace("RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 704 vs 598"))
BAR = "  4%|#         | 4/100 [00:04<01:00,  1.6it/s]"
LOST = "(TrainController pid=79) The actor died because its node has died. Node Id: b157c93de\n(TrainController pid=79) \tthe actor's node was terminated\n"
HIP = "/src/hip_code_object.cpp:120: guarantee(false && \"hipErrorNoBinaryForGpu: Coudn't find binary for current devices!\")\n"


def record(**fields):
    return json.dumps(fields) + "\n"


LOGURU = (record(text="2026-03-03 10:00:00 | INFO | epoch 1\n", record={"level": {"name": "INFO"}})
          + record(text="2026-03-03 10:00:04 | ERROR | run failed\n" + trace("KeyError: 'mask'"), record={"level": {"name": "ERROR"}}))
BETWEEN_STEPS = (record(ts="2026-03-03T10:00:00Z", level="info", event="step", step=10, loss=2.1)
                 + record(ts="2026-03-03T10:00:04Z", level="error", event="failed", exception=trace("KeyError: 'mask'")))
TESTS = ("test_bad (tests.Data) ... " + trace("ValueError: cannot decode sample 771") + "ok\n\n" + "-" * 70 + "\nRan 2 tests in 0.311s\n\n{}\n")

CASES = [
    *[Case("next_step_of_" + name, {"job.log": STEPS + trace(text)}, None, "", step=step) for name, (text, step) in REASONS.items()],
    # ---- what runtimes print below the exception
    Case("hccl_initializes", {"job.log": trace(HCCP)}, [5], "HCCL error: Failed to initialize the HCCP process", step="npu-smi"),
    Case("hccl_of_a_peer", {"job.log": STEPS + marked("[rank3]: ", trace(SOCKET))}, [], "Getting socket times out", step="output of the other ranks"),
    Case("core_of_npu", {"job.log": STEPS + trace(CORE)}, [], "vector core execution is abnormal", step="ASCEND_LAUNCH_BLOCKING"),
    Case("root_error_of_xla", {"job.log": "Exception in device=TPU:6: RESOURCE_EXHAUSTED: From /job:localservice/replica:0/task:0:\n" + trace(XLA)},
         [6], "Attempting to reserve 10.51G", step="memory of the TPU"),
    Case("status_of_xla_alone", {"job.log": trace("RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate "
                                                  "196.00M.")}, [], "^RESOURCE_EXHAUSTED: Error allocating|with RESOURCE_EXHAUSTED", step="TPU"),
    Case("no_binary_for_gpu", {"job.log": HIP + "[1]    29311 abort (core dumped)  python run.py\n"}, [], "hipErrorNoBinaryForGpu", step="code for this GPU"),
    # ---- kernels
    Case("ring_of_amdgpu", {"dmesg.txt": RING}, [], "A GPU failed: its work did not end .* 0000:c5:00.0", step="checked"),
    Case("memory_of_amdgpu", {"dmesg.txt": "[ 9212.3] amdgpu 0000:23:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)\n"}, [],
         "page fault", step="AMD_SERIALIZE_KERNEL"),
    Case("xid_alone", {"dmesg.txt": "[12345.6] NVRM: Xid (PCI:0000:4b:00): 79, pid=4712, name=python, GPU has fallen off the bus.\n"}, [], "fallen off the bus"),
    Case("card_of_mellanox", {"dmesg.txt": CARD}, [], "A network card failed: its firmware does not answer .* 0000:9a:00.0", step="cable"),
    Case("link_of_mellanox", {"syslog": LINK.format("down") + WATCHDOG}, [], "link down .* 0000:5e:00.0", step="cable"),
    Case("link_that_came_back", {"syslog": LINK.format("down") + LINK.format("up") + WATCHDOG}, [], "watchdog timeout"),
    Case("link_that_came_back_alone", {"syslog": LINK.format("down") + LINK.format("up")}, healthy=True),
    Case("rings_of_amdgpu_are_set_up", {"dmesg.txt": "[15.1] amdgpu 0000:c5:00.0: amdgpu: ring comp_1.0.0 uses VM inv eng 0 on hub 0\n[15.3] amdgpu 0000:c5:00.0: "
                                                     "amdgpu: GPU reset method support: MODE1 RESET\n[400.0] Memory cgroup stats: oom_kill 0\n"}, healthy=True),
    Case("machine_check", {"kern.log": "Mar  3 02:10:11 n9 kernel: mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 7: bd80000000100134\n"}, [],
         "A host failed: machine check", step="exclude"),
    Case("disk", {"dmesg.txt": "[8812.3] blk_update_request: I/O error, dev nvme2n1, sector 81234\n"}, [], "A disk failed", step="exclude"),
    # ---- how texts are written
    Case("box_as_wide_as_the_terminal", {"job.log": STEPS + BOX + LONG}, [], r"size of tensor a .512.*fit\.py:87", step="shapes"),
    Case("records_of_loguru", {"job.log": LOGURU}, [], r"KeyError: 'mask' at train\.py:40"),
    Case("records_between_steps", {"job.log": BETWEEN_STEPS}, [], r"KeyError: 'mask' at train\.py:40"),
    Case("bar_drawn_once_more", {"job.log": BAR + trace("KeyError: 'mask'") + BAR + "\n"}, [], r"KeyError: 'mask' at train\.py:40"),
    Case("writer_closed_after_a_failed_write", {"job.log": STEPS + WRITER}, [], "PytorchStreamWriter failed writing", step="Free space"),
    Case("aborted_without_memory", {"job.log": STEPS + "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core "
                                    "dumped)\n"}, [], "A process aborted: std::bad_alloc", step="more memory"),
    # ---- ended from outside
    Case("node_of_ray", {"job.log": STEPS + LOST}, [], "Ray lost a node", step="resume"),
    Case("preempted_by_azure", {"job.log": STEPS + "The job was preempted: low priority VM was reclaimed at 10:11:12\n"}, [], "preemption", step="last checkpoint"),
    Case("process_of_azure", {"job.log": "Execution failed. User process '/envs/x/bin/python' exited with status code 1. Please check log file 'std_log_process_3.txt'.\n"},
         [], "exit code 1"),
    Case("slots_of_mpi", {"job.log": "There are not enough slots available in the system to satisfy the 16\nslots that were requested by the application:\n"}, [],
         "did not start: There are not enough slots", step="hostfile"),
    Case("step_of_slurm", {"job.log": "srun: error: Unable to create step for job 8121: Invalid generic resource (gres) specification\n"}, [], "gres", step="GPUs"),
    Case("command_timeout", {"job.log": STEPS + "timeout: sending signal TERM to command 'python'\nTerminated\n"}, [], "timeout", step="more time"),
    Case("local_rank_alone", {"job.log": STEPS + failed(2, -11, 4713)}, None, "SIGSEGV", step="PYTHONFAULTHANDLER"),
    Case("store_out_of_reach", {"job.log": raised(9, "torch.distributed.DistNetworkError: The client socket has timed out after 300000ms while trying to connect "
                                                  "to (10.8.0.3, 29500).")}, None, "store .* at 10.8.0.3:29500", step="MASTER_ADDR"),
    Case("ranks_in_lower_case", {"job.log": raised(0, "RuntimeError: Rank 0: Did not pass monitored barrier: ranks 3, 6 failed to pass monitoredBarrier in 120000 ms")},
         [3, 6], "monitored barrier"),
    # ---- tests of programs
    Case("tests_that_passed", {"tests.log": TESTS.format("OK")}, healthy=True),
    Case("tests_that_failed", {"tests.log": TESTS.format("FAILED (errors=1)")}, [], "cannot decode sample 771"),
]
