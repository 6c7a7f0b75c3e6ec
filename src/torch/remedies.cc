#include "torch/remedies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text/strings.h"

namespace debrief {

namespace {

struct Remedy {
  std::array<std::string_view, 6> words;  // any of these; the empty ones are none
  std::string_view next;
};

// The first that fits: what is rarer stands before what is said in many messages.
constexpr Remedy kRemedies[] = {
    {{"No space left on device", "PytorchStreamWriter failed writing"},
     "Free space on that file system, or write somewhere else, and start again."},
    {{"Disk quota exceeded"},
     "Free space within the quota of that folder, or write somewhere else, and start again."},
    {{"Too many open files"},
     "Raise the limit of open files (ulimit -n), or open fewer: data loader workers, shards."},
    {{"out of shared memory", "insufficient shared memory", "signal: Bus error"},
     "Give the container a larger /dev/shm (docker --shm-size), or use fewer data loader workers."},
    // ---- servers size their cache at the start
    {{"be stored in KV cache", "KV cache is needed", "memory for the cache blocks",
      "--mem-fraction-static", "less than desired GPU memory utilization"},
     "Serve shorter sequences (max_model_len, --context-length) or give the engine another share "
     "of "
     "the GPU (gpu_memory_utilization, --mem-fraction-static), and look with nvidia-smi for other "
     "processes on it."},
    // ---- memory of devices, and of hosts as Ray watches them
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
    {{"CUDA out of memory", "CUDA error: out of memory", "failure 'out of memory'"},
     "Use less GPU memory (a smaller batch, recomputing activations, sharding), and look with "
     "nvidia-smi for other processes on that GPU."},
    {{"CUBLAS_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_NOT_INITIALIZED",
      "CUDNN_STATUS_NOT_INITIALIZED"},
     "Most often the GPU's memory is full: use less of it, and look with nvidia-smi for other "
     "processes on that GPU."},
    {{"free(): ", "double free or corruption", "malloc(): ", "corrupted size vs"},
     "Run this rank with PYTHONFAULTHANDLER=1, which prints the Python line, or look at its core "
     "dump: native code wrote where it should not."},
    {{"Stale file handle"},
     "Mount that file system again on the machine of this process, or run on another one."},
    {{"PytorchStreamReader failed", "archive is corrupted", "failed finding central directory",
      "unexpected EOF, expected", "SafetensorError", "BadZipFile"},
     "Check that this file is whole: its writer may have been ended, or a copy cut. Load an older "
     "checkpoint."},
    {{"paging file is too small"},
     "Make the paging file of Windows larger, or use fewer data loader workers."},
    {{"ibv_reg_mr", "ibv_create_", "RLIMIT_MEMLOCK"},
     "Let the process lock memory: ulimit -l unlimited, in containers --ulimit memlock=-1 and "
     "IPC_LOCK."},
    {{"DefaultCPUAllocator", "Cannot allocate memory", "bad_alloc", "signal: Killed", "OOMKilled"},
     "Give the host or the container more memory, or use less: data loader workers, pinned "
     "memory, checkpoints held in memory."},
    {{"ddress already in use", "EADDRINUSE"},
     "End the job that still listens on that port, or choose another one (--master_port, "
     "--rdzv_endpoint, MASTER_PORT)."},
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
    {{"device function", "named symbol not found"},
     "Use a build of PyTorch (or of NCCL, RCCL) that has code for this GPU; torch.cuda."
     "get_arch_list() and get_device_capability() say which."},
    {{"driver/library version mismatch"},
     "The NVIDIA driver was updated and its kernel module is still the old one: reboot that host, "
     "or reload the module."},
    {{"NVIDIA driver on your system is too old", "driver version is insufficient",
      "no kernel image is available"},
     "Use a build of PyTorch that fits the driver and the GPU (torch.version.cuda, nvidia-smi)."},
    {{"no CUDA-capable device", "invalid device ordinal", "No CUDA GPUs are available",
      "requires a GPU (not", "Total available GPUs"},
     "Compare the GPUs that the job sees (CUDA_VISIBLE_DEVICES, nvidia-smi) with the number of "
     "processes on the host."},
    {{"could not select device driver"},
     "Install the NVIDIA container toolkit on that host and configure docker with it (nvidia-ctk "
     "runtime configure), or pass the devices another way."},
    {{"synStatus", "MODULE:PT_"},
     "Look into the logs of SynapseAI on that host ($HABANA_LOGS) and with hl-smi for a process "
     "that still holds the device."},
    {{"EZ9999", "aclnn", "CANN"},
     "Compare the versions of CANN, of the driver (npu-smi info) and of torch_npu, and that this "
     "op "
     "has kernels for this NPU."},
    {{"HCCL error", "hccl api failed"},
     "Look at the output of the other ranks, at the network between the hosts and at the logs of "
     "CANN (~/ascend/log)."},
    {{"NET/OFI"},
     "Look at the EFA devices of that host (fi_info -p efa, dmesg), and that the versions of "
     "libfabric and aws-ofi-nccl fit NCCL's."},
    {{"peer access is not supported"},
     "Run with NCCL_P2P_DISABLE=1, and check that all processes of the host see the same GPUs "
     "(CUDA_VISIBLE_DEVICES, nvidia-smi topo -m)."},
    {{"unhandled cuda error", "unhandled system error"},
     "Read the NCCL WARN lines before it: they say which call failed. NCCL_DEBUG=INFO prints "
     "them."},
    {{"Mismatched NCCL version"}, "Use one version of PyTorch and NCCL on all hosts."},
    {{"Error(s) in loading state_dict", "size mismatch for"},
     "Compare the configuration of the model with the one that the checkpoint was written with."},
    {{"value from checkpoint (", "key in checkpoint"},
     "Compare the configuration of this run with the one that the checkpoint was written with."},
    {{"ExpiredToken", "InvalidAccessKeyId", "AccessDenied", "Unable to locate credentials",
      "token has expired"},
     "Give the job credentials that are valid as long as it runs, and access to that store."},
    {{"ImagePullBackOff", "ErrImagePull", "Failed to pull image", "failed to import docker image",
      "returned error code: 401"},
     "Check the name and the tag of the image, and that the host may pull it from that registry."},
    {{"is not scheduled", "FailedScheduling"},
     "No node can take the pod: compare what it asks for (GPUs, memory, tolerations) with what is "
     "free (kubectl describe nodes), and with the quota."},
    {{"CrashLoopBackOff", "RunContainerError", "CreateContainer"},
     "Read why its container ended: kubectl logs --previous POD, kubectl describe pod POD."},
    {{"pyxis", "enroot", "nvidia-container-cli", "could not open image", "OCI runtime"},
     "Start the container by hand on that host: is the image there, do its mounts exist, does "
     "nvidia-smi work?"},
    {{"prolog failed", "layout tasks", "Task launch for", "submission failed"},
     "Compare what the job asks for (CPUs, GPUs, partition) with what its nodes have (scontrol "
     "show node), and ask the administrators about a node whose prolog fails (slurmd.log)."},
    {{"not reachable via ssh", "ssh exited with", "unable to reliably start",
      "unable to start one or more daemons"},
     "Check that the launching host reaches every other one by ssh without a password, and that "
     "PATH and LD_LIBRARY_PATH there have the launcher."},
    {{"unable to launch the specified application"},
     "Check that the program is at that path on every host, and may be executed."},
    {{"MPI_Init", "MPI_ERRORS_ARE_FATAL"},
     "Check that the program's MPI is the launcher's (srun --mpi=pmix, mpirun of the same "
     "installation)."},
    {{"host not found", "Name or service not known"},
     "Check the name in MASTER_ADDR or --rdzv_endpoint, and that the hosts can resolve it (DNS, "
     "the service of the job)."},
    {{"can't be reached at", "Connection refused", "Failed to establish a new connection"},
     "Check that the server is running at that address and port, and that the host reaches it."},
    {{"401 Client Error", "403 Client Error", "GatedRepoError", "Unauthorized"},
     "Log in to the hub on every host (HF_TOKEN), and ask for access to that repository."},
    {{"HTTPSConnectionPool", "Max retries exceeded", "Temporary failure in name resolution",
      "couldn't connect to"},
     "Check the network and the proxy of the host, or download beforehand and run offline "
     "(HF_HUB_OFFLINE=1)."},
    {{"does not appear to have a file named", "is not a valid model identifier",
      "RepositoryNotFoundError", "EntryNotFoundError"},
     "Check the name or the path of the model, and that its files are complete."},
    {{"Remote I/O error", "Input/output error", "Transport endpoint is not connected"},
     "Look at the file system behind that path: its mount on this host, its servers, the kernel "
     "log."},
    {{"Permission denied"}, "Give the job access to that path, or use another one."},
    {{"No such file or directory", "FileNotFoundError"},
     "Check that path on the host of this process: is it mounted, is it spelled right?"},
    {{"No module named", "cannot import name"},
     "Install that module where this process runs, in the version that the program needs, or "
     "check "
     "its environment and PYTHONPATH."},
    {{"cannot open shared object file", "undefined symbol"},
     "Install that library where this process runs, built for this version of PyTorch, or check "
     "LD_LIBRARY_PATH."},
    {{"symbol lookup error"},
     "Install that library where this process runs, built for this version of PyTorch, or check "
     "LD_LIBRARY_PATH."},
    {{"does not match the version torch was compiled with", "CUDA Setup failed"},
     "Install the CUDA toolkit that PyTorch was built with (torch.version.cuda), or a PyTorch "
     "for "
     "the installed one, and check CUDA_HOME and LD_LIBRARY_PATH."},
    {{"Error building extension", "Error compiling objects", "'ninja', '-v'"},
     "Read what the compiler says above this traceback; check that compiler, CUDA toolkit and "
     "headers fit PyTorch."},
    {{"override_grammar", "OverrideParse", "missing EQUAL at"},
     "Compare the overrides of the command with Hydra's grammar (key=value, no blanks around the "
     "sign, quotes in quotes)."},
    {{"forked subprocess"},
     "Start the workers with the spawn method, and do not touch CUDA before they start."},
    {{"start a new process before"},
     "Put what the main script does below `if __name__ == '__main__':`; processes that are "
     "spawned import it."},
    {{"Can't pickle", "cannot pickle"},
     "Make what is sent to worker processes picklable: a function at the top of a module in "
     "place "
     "of a lambda or a local one."},
    {{"items of ancdata"},
     "Raise the limit of open files (ulimit -n), or share tensors by files: "
     "torch.multiprocessing.set_sharing_strategy('file_system')."},
    {{"can't start new thread", "Thread creation failed", "pthread_create failed"},
     "Raise the limit of processes and threads (ulimit -u, pids of the container), or start "
     "fewer: "
     "OMP_NUM_THREADS, data loader workers."},
    {{"unscale FP16 gradients"},
     "Keep the weights that are trained in float32 with fp16 mixed precision, or use bf16."},
    {{"oss scale already at minimum", "inimum loss scale reached", "nan or inf",
      "NaN in local grad norm", "gradients are inconsistent"},
     "Find the first step whose loss or gradients are nan or inf (torch.autograd."
     "set_detect_anomaly); a lower learning rate, clipping or bf16 in place of fp16 may cure "
     "it."},
    {{"finished reduction in the prior iteration"},
     "Let every parameter take part in the loss, or pass find_unused_parameters=True to "
     "DistributedDataParallel; TORCH_DISTRIBUTED_DEBUG=DETAIL names those that do not."},
    {{"must be divisible by"},
     "Choose a parallel size that divides it, or another configuration of the model."},
    {{"Couldn't cast array", "DatasetGenerationError"},
     "Compare the columns of the files: one of them has another type than those before it."},
    {{"unrecognized arguments", "the following arguments are required"},
     "Compare the command with what the program accepts (--help)."},
    {{"Expected all tensors to be on the same device"},
     "Move that tensor to the device of the model before it is used."},
    {{"mat1 and mat2 shapes", "must match the size of tensor", "shape mismatch",
      "is invalid for input of size"},
     "Print the shapes that come to that line: the data or the configuration has another one."}};

// The bytes of "1024.00 MiB is free" behind `mark`; 0 where there are none.
double BytesBehind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + mark.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {" KiB", 1024.}, {" MiB", 1024. * 1024}, {" GiB", 1024. * 1024 * 1024}};
  for (const auto& [unit, bytes] : kUnits) {
    if (text.starts_with(unit)) return number * bytes;
  }
  return 0;
}

// "Tried to allocate 1024.00 MiB. GPU 0 has ... of which 109.83 GiB is free": not the GPU is full.
bool IsLimited(std::string_view error) {
  const double wanted = BytesBehind(error, "Tried to allocate ");
  return wanted > 0 && BytesBehind(error, " of which ") > 2 * wanted;
}

}  // namespace

std::string_view RemedyOf(std::string_view error) {
  if (IsLimited(error))
    return "The GPU has enough free memory: look for a limit of this process "
           "(set_per_process_memory_fraction, per_process_memory_fraction, MIG), or a device that "
           "filled for a moment only.";
  for (const Remedy& remedy : kRemedies) {
    const bool fits = std::ranges::any_of(remedy.words, [&](std::string_view word) {
      return !word.empty() && Contains(error, word);
    });
    if (fits) return remedy.next;
  }
  return {};
}

}  // namespace debrief
