// Storage, memory, devices and their drivers, collectives.
#include "torch/remedies/tables.h"

namespace debrief::remedies {

namespace {

constexpr Remedy kMachines[] = {
    // ---- storage and memory of hosts
    {{"creating shared memory segment", "out of shared memory", "insufficient shared memory",
      "signal: Bus error"},
     "Give the container a larger /dev/shm (docker --shm-size), or use fewer data loader workers."},
    {{"No space left on device", "PytorchStreamWriter failed writing", "unexpected pos "},
     "Free space on that file system, or write somewhere else, and start again."},
    {{"Disk quota exceeded"},
     "Free space within the quota of that folder, or write somewhere else, and start again."},
    {{"Read-only file system"},
     "Write somewhere else, or look in the kernel log (dmesg) why it became read-only: file "
     "systems do after errors of a disk."},
    {{"Too many open files"},
     "Raise the limit of open files (ulimit -n), or open fewer: data loader workers, shards."},
    {{"items of ancdata"},
     "Raise the limit of open files (ulimit -n), or share tensors by files: "
     "torch.multiprocessing.set_sharing_strategy('file_system')."},
    {{"Stale file handle"},
     "Mount that file system again on the machine of this process, or run on another one."},
    {{"Remote I/O error", "Input/output error", "Transport endpoint is not connected"},
     "Look at the file system behind that path: its mount on this host, its servers, the kernel "
     "log."},
    {{"PytorchStreamReader failed", "archive is corrupted", "failed finding central directory",
      "unexpected EOF, expected", "SafetensorError", "BadZipFile", "Parquet magic bytes",
      "Either the file is corrupted", "Not a gzipped file", "invalid load key",
      "Invalid magic number", "unexpected end of data", "Compressed file ended before"},
     "Check that this file is whole: its writer may have been ended, or a copy cut. Load an older "
     "checkpoint."},
    {{"paging file is too small"},
     "Make the paging file of Windows larger, or use fewer data loader workers."},
    {{"ibv_reg_mr", "ibv_create_", "RLIMIT_MEMLOCK"},
     "Let the process lock memory: ulimit -l unlimited, in containers --ulimit memlock=-1 and "
     "IPC_LOCK."},
    {{"can't start new thread", "Thread creation failed", "pthread_create failed"},
     "Raise the limit of processes and threads (ulimit -u, pids of the container), or start fewer: "
     "OMP_NUM_THREADS, data loader workers."},
    {{"DefaultCPUAllocator", "Cannot allocate memory", "bad_alloc", "signal: Killed", "OOMKilled",
      "abruptly died during map", "Java heap space"},
     "Give the host or the container more memory, or use less: data loader workers, pinned memory, "
     "checkpoints held in memory."},
    // ---- memory of devices, which servers size at the start, and of hosts as Ray watches them
    {{"be stored in KV cache", "KV cache is needed", "memory for the cache blocks",
      "--mem-fraction-static", "less than desired GPU memory utilization"},
     "Serve shorter sequences (max_model_len, --context-length) or give the engine another share "
     "of the GPU (gpu_memory_utilization, --mem-fraction-static), and look with nvidia-smi for "
     "other processes on it."},
    {{"node running low on memory", "memory pressure (OOM)"},
     "Give the host more memory, or use less: fewer actors on it, less offloading, a smaller "
     "object store. `ray logs raylet.out` has who used it."},
    {{"No valid triton configs", "out of resource: shared memory"},
     "Use smaller blocks or fewer stages for that Triton kernel (num_stages, BLOCK_*), or leave it "
     "out of max-autotune: this GPU has less shared memory than the kernel asks for."},
    {{"MPS backend out of memory"},
     "Use less memory (a smaller batch, recomputing activations); other programs on the Mac share "
     "it."},
    {{"RESOURCE_EXHAUSTED", "Ran out of memory in memory space"},
     "Use less memory of the TPU: a smaller batch, recomputing activations, sharding."},
    {{"HIP out of memory", "HIP failure 'out of memory'", "XPU out of memory", "NPU out of memory"},
     "Use less device memory (a smaller batch, recomputing activations, sharding), and look for "
     "other processes on that device (rocm-smi, xpu-smi, npu-smi)."},
    {{"CUDA out of memory", "CUDA error: out of memory", "failure 'out of memory'",
      "Cuda failure 2 "},
     "Use less GPU memory (a smaller batch, recomputing activations, sharding), and look with "
     "nvidia-smi for other processes on that GPU."},
    {{"CUBLAS_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_NOT_INITIALIZED",
      "CUDNN_STATUS_NOT_INITIALIZED"},
     "Most often the GPU's memory is full: use less of it, and look with nvidia-smi for other "
     "processes on that GPU."},
    {{"free(): ", "double free or corruption", "malloc(): ", "corrupted size vs"},
     "Run this rank with PYTHONFAULTHANDLER=1, which prints the Python line, or look at its core "
     "dump: native code wrote where it should not."},
    // ---- what GPUs and drivers report
    {{"CUBLAS_STATUS_EXECUTION_FAILED", "CUBLAS_STATUS_INTERNAL_ERROR",
      "CUDNN_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_INTERNAL_ERROR",
      "CUBLAS_STATUS_INVALID_VALUE"},
     "Run with CUDA_LAUNCH_BLOCKING=1: an earlier kernel may have failed (an index out of range), "
     "or the GPU's memory is full. Does another GPU show it, too?"},
    {{"unable to find an engine", "CUDNN_STATUS_NOT_SUPPORTED", "No valid execution plans"},
     "cuDNN has no kernel for that call: try less memory in use, another dtype or memory format, "
     "or a build with another version of cuDNN (torch.backends.cudnn.version())."},
    {{"device-side assert", "], thread: ["},
     "Check labels and indices against the sizes of their tables; CUDA_LAUNCH_BLOCKING=1 makes the "
     "traceback point at the kernel."},
    {{"illegal memory access", "unspecified launch failure", "misaligned address"},
     "Run with CUDA_LAUNCH_BLOCKING=1, which makes the traceback point at the kernel, or under "
     "compute-sanitizer."},
    {{"Memory access fault by GPU", "VM_L2_PROTECTION_FAULT"},
     "Run with AMD_SERIALIZE_KERNEL=3, which makes the traceback point at the kernel, and look at "
     "the kernel log of that host (dmesg, amdgpu) for the GPU and its process."},
    {{"GPU Hang", "DEVICE_LOST", "HW Exception by GPU"},
     "Look at the kernel log of that host (dmesg) for what the driver says of this GPU; another "
     "driver version or GPU shows whether it is the hardware."},
    {{"uncorrectable ECC error", "uncorrectable hardware error"},
     "Take this GPU out of use and have it checked (nvidia-smi -q -d ECC): its memory is faulty."},
    {{"Error 802", "system not yet initialized"},
     "Start the fabric manager on that host (systemctl status nvidia-fabricmanager) in the version "
     "of the driver: GPUs behind NVSwitch wait for it."},
    {{"Error 803", "unsupported display driver"},
     "The libraries of the driver do not fit its kernel module: reboot that host after an update "
     "of the driver, or remove compatibility libraries of CUDA (cuda-compat) from the image."},
    {{"device function", "named symbol not found", "hipErrorNoBinaryForGpu"},
     "Use a build of PyTorch (or of NCCL, RCCL) that has code for this GPU; "
     "torch.cuda.get_arch_list() and get_device_capability() say which."},
    {{"driver/library version mismatch"},
     "The NVIDIA driver was updated and its kernel module is still the old one: reboot that host, "
     "or reload the module."},
    {{"NVIDIA driver on your system is too old", "driver version is insufficient",
      "no kernel image is available", "invalid value for --gpu-arch"},
     "Use a build of PyTorch that fits the driver and the GPU (torch.version.cuda, nvidia-smi)."},
    {{"overlapping devices", "Duplicate GPU"},
     "Give each process of a host a GPU of its own before its first collective: "
     "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])), one process per GPU."},
    {{"busy or unavailable"},
     "Another process holds this GPU alone, or its compute mode is exclusive (nvidia-smi -q -d "
     "COMPUTE): end that process, or use another GPU."},
    {{"CUDA unknown error", "initialization error"},
     "Check that nvidia-smi works on that host and in the container, and that CUDA_VISIBLE_DEVICES "
     "is set before the program starts."},
    {{"no CUDA-capable device", "invalid device ordinal", "No CUDA GPUs are available",
      "requires a GPU (not", "Total available GPUs", "You requested gpu"},
     "Compare the GPUs that the job sees (CUDA_VISIBLE_DEVICES, nvidia-smi) with the number of "
     "processes on the host."},
    {{"doesn't support bf16", "bf16 is not supported", "bfloat16 is not supported",
      "Bfloat16 is only supported"},
     "Train in fp16 or float32 on this GPU: bf16 needs one of compute capability 8.0 or newer."},
    {{"could not select device driver"},
     "Install the NVIDIA container toolkit on that host and configure docker with it (nvidia-ctk "
     "runtime configure), or pass the devices another way."},
    // ---- other accelerators, and collectives
    {{"TPU initialization failed", "/dev/accel", "/dev/vfio"},
     "Look for another process that holds the TPU (lsof /dev/accel* /dev/vfio/*), and whether this "
     "one may open the device."},
    {{"synStatus", "MODULE:PT_"},
     "Look into the logs of SynapseAI on that host ($HABANA_LOGS) and with hl-smi for a process "
     "that still holds the device."},
    {{"ocket times out", "HCCL_CONNECT_TIMEOUT", "Remote Rank did not send"},
     "Look at the output of the other ranks for the one that was late or had ended before, then at "
     "HCCL_CONNECT_TIMEOUT and the network between the hosts."},
    {{"HCCP process"},
     "End what is left of an earlier job on that host (npu-smi info lists processes), wait ten "
     "seconds and start again."},
    {{"EZ9999", "aclnn", "CANN"},
     "Compare the versions of CANN, of the driver (npu-smi info) and of torch_npu, and that this "
     "op has kernels for this NPU."},
    {{"NPU function error", "vector core execution", "aicore exception", "aivec error"},
     "Look at the logs of CANN on that host (~/ascend/log) for the op that failed; "
     "ASCEND_LAUNCH_BLOCKING=1 makes the traceback point at it."},
    {{"HCCL error", "hccl api failed", "call hccl"},
     "Look at the output of the other ranks, at the network between the hosts and at the logs of "
     "CANN (~/ascend/log)."},
    {{"oneCCL", "CCL_ERROR"},
     "Start the ranks with the launcher that oneCCL expects (mpirun), or set what it asks for "
     "(CCL_ZE_IPC_EXCHANGE, CCL_ATL_TRANSPORT, CCL_PROCESS_LAUNCHER)."},
    {{"NET/OFI"},
     "Look at the EFA devices of that host (fi_info -p efa, dmesg), and that the versions of "
     "libfabric and aws-ofi-nccl fit NCCL's."},
    {{"peer access is not supported"},
     "Run with NCCL_P2P_DISABLE=1, and check that all processes of the host see the same GPUs "
     "(CUDA_VISIBLE_DEVICES, nvidia-smi topo -m)."},
    {{"no socket interface found", "NCCL_SOCKET_IFNAME"},
     "Check that the interface in NCCL_SOCKET_IFNAME exists on every host (ip addr), or leave it "
     "out."},
    {{"unhandled cuda error", "unhandled system error"},
     "Read the NCCL WARN lines before it: they say which call failed. NCCL_DEBUG=INFO prints "
     "them."},
    {{"Mismatched NCCL version"}, "Use one version of PyTorch and NCCL on all hosts."}};

}  // namespace

std::span<const Remedy> OfMachines() { return kMachines; }

}  // namespace debrief::remedies
