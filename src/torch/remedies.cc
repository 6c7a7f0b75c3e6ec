#include "torch/remedies.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/strings.h"

namespace debrief {

namespace {

struct Remedy {
  std::array<std::string_view, 4> words;  // any of these; the empty ones are none
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
    {{"CUDA out of memory", "CUDA error: out of memory", "HIP out of memory", "XPU out of memory"},
     "Use less GPU memory (a smaller batch, recomputing activations, sharding), and look with "
     "nvidia-smi for other processes on that GPU."},
    {{"paging file is too small"},
     "Make the paging file of Windows larger, or use fewer data loader workers."},
    {{"DefaultCPUAllocator", "Cannot allocate memory", "bad_alloc", "signal: Killed"},
     "Give the host or the container more memory, or use less: data loader workers, pinned "
     "memory, checkpoints held in memory."},
    {{"ddress already in use", "EADDRINUSE"},
     "End the job that still listens on that port, or choose another one (--master_port, "
     "--rdzv_endpoint, MASTER_PORT)."},
    {{"device-side assert"},
     "Check labels and indices against the sizes of their tables; CUDA_LAUNCH_BLOCKING=1 makes the "
     "traceback point at the kernel."},
    {{"illegal memory access", "unspecified launch failure", "misaligned address"},
     "Run with CUDA_LAUNCH_BLOCKING=1, which makes the traceback point at the kernel, or under "
     "compute-sanitizer."},
    {{"NVIDIA driver on your system is too old", "driver version is insufficient",
      "no kernel image is available"},
     "Use a build of PyTorch that fits the driver and the GPU (torch.version.cuda, nvidia-smi)."},
    {{"no CUDA-capable device", "invalid device ordinal", "No CUDA GPUs are available"},
     "Compare the GPUs that the job sees (CUDA_VISIBLE_DEVICES, nvidia-smi) with the number of "
     "processes on the host."},
    {{"Mismatched NCCL version"}, "Use one version of PyTorch and NCCL on all hosts."},
    {{"Error(s) in loading state_dict", "size mismatch for"},
     "Compare the configuration of the model with the one that the checkpoint was written with."},
    {{"401 Client Error", "403 Client Error", "GatedRepoError", "Unauthorized"},
     "Log in to the hub on every host (HF_TOKEN), and ask for access to that repository."},
    {{"HTTPSConnectionPool", "Max retries exceeded", "Temporary failure in name resolution",
      "couldn't connect to"},
     "Check the network and the proxy of the host, or download beforehand and run offline "
     "(HF_HUB_OFFLINE=1)."},
    {{"does not appear to have a file named", "is not a valid model identifier",
      "RepositoryNotFoundError", "EntryNotFoundError"},
     "Check the name or the path of the model, and that its files are complete."},
    {{"Permission denied"}, "Give the job access to that path, or use another one."},
    {{"No such file or directory", "FileNotFoundError"},
     "Check that path on the host of this process: is it mounted, is it spelled right?"},
    {{"No module named", "cannot import name"},
     "Install that module where this process runs, in the version that the program needs, or check "
     "its environment and PYTHONPATH."},
    {{"cannot open shared object file", "undefined symbol"},
     "Install that library where this process runs, built for this version of PyTorch, or check "
     "LD_LIBRARY_PATH."},
    {{"unrecognized arguments", "the following arguments are required"},
     "Compare the command with what the program accepts (--help)."},
    {{"Expected all tensors to be on the same device"},
     "Move that tensor to the device of the model before it is used."},
    {{"mat1 and mat2 shapes", "must match the size of tensor", "shape mismatch",
      "is invalid for input of size"},
     "Print the shapes that come to that line: the data or the configuration has another one."}};

}  // namespace

std::string_view RemedyOf(std::string_view error) {
  for (const Remedy& remedy : kRemedies) {
    const bool fits = std::ranges::any_of(remedy.words, [&](std::string_view word) {
      return !word.empty() && Contains(error, word);
    });
    if (fits) return remedy.next;
  }
  return {};
}

}  // namespace debrief
