#include "torch/remedies.h"

#include <algorithm>
#include <array>
#include <charconv>
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
    {{"free(): ", "double free or corruption", "malloc(): ", "corrupted size vs"},
     "Run this rank with PYTHONFAULTHANDLER=1, which prints the Python line, or look at its core "
     "dump: native code wrote where it should not."},
    {{"Stale file handle"},
     "Mount that file system again on the machine of this process, or run on another one."},
    {{"PytorchStreamReader failed", "archive is corrupted", "failed finding central directory",
      "unexpected EOF, expected"},
     "Check that this file is whole: its writer may have been ended, or a copy cut. Load an older "
     "checkpoint."},
    {{"paging file is too small"},
     "Make the paging file of Windows larger, or use fewer data loader workers."},
    {{"DefaultCPUAllocator", "Cannot allocate memory", "bad_alloc", "signal: Killed"},
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
