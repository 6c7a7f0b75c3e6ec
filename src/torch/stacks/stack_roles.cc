#include "torch/stacks/stack_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text/strings.h"
#include "torch/stacks/user_frames.h"

namespace debrief {

namespace {

// py-spy shortens the names of files by the folder that would tell a library: these are modules of
// Python and packages that people install.
constexpr std::array<std::string_view, 29> kModules = {
    "threading.py",    "selectors.py",  "queue.py",   "socket.py",  "ssl.py",       "subprocess.py",
    "runpy.py",        "contextlib.py", "pickle.py",  "shutil.py",  "os.py",        "tempfile.py",
    "zipfile.py",      "gzip.py",       "tarfile.py", "copy.py",    "functools.py", "weakref.py",
    "socketserver.py", "codecs.py",     "random.py",  "inspect.py", "ast.py",       "re.py",
    "uuid.py",         "mmap.py",       "glob.py",    "pathlib.py", "traceback.py"};
constexpr std::array<std::string_view, 88> kPackages = {"multiprocessing/",
                                                        "concurrent/",
                                                        "asyncio/",
                                                        "json/",
                                                        "http/",
                                                        "urllib/",
                                                        "logging/",
                                                        "importlib/",
                                                        "ctypes/",
                                                        "collections/",
                                                        "xml/",
                                                        "sqlite3/",
                                                        "email/",
                                                        "unittest/",
                                                        "numpy/",
                                                        "transformers/",
                                                        "accelerate/",
                                                        "lightning/",
                                                        "lightning_fabric/",
                                                        "pytorch_lightning/",
                                                        "deepspeed/",
                                                        "datasets/",
                                                        "tqdm/",
                                                        "wandb/",
                                                        "requests/",
                                                        "urllib3/",
                                                        "triton/",
                                                        "fsspec/",
                                                        "huggingface_hub/",
                                                        "filelock/",
                                                        "safetensors/",
                                                        "tokenizers/",
                                                        "sentencepiece/",
                                                        "pandas/",
                                                        "pyarrow/",
                                                        "PIL/",
                                                        "cv2/",
                                                        "h5py/",
                                                        "zarr/",
                                                        "boto3/",
                                                        "botocore/",
                                                        "s3fs/",
                                                        "s3transfer/",
                                                        "gcsfs/",
                                                        "aiohttp/",
                                                        "httpx/",
                                                        "httpcore/",
                                                        "webdataset/",
                                                        "torchvision/",
                                                        "torchaudio/",
                                                        "torchdata/",
                                                        "torchtune/",
                                                        "ray/",
                                                        "hydra/",
                                                        "omegaconf/",
                                                        "fire/",
                                                        "click/",
                                                        "absl/",
                                                        "mlflow/",
                                                        "tensorboard/",
                                                        "tensorboardX/",
                                                        "scipy/",
                                                        "sklearn/",
                                                        "einops/",
                                                        "xformers/",
                                                        "flash_attn/",
                                                        "apex/",
                                                        "transformer_engine/",
                                                        "composer/",
                                                        "streaming/",
                                                        "lmdb/",
                                                        "joblib/",
                                                        "dill/",
                                                        "zmq/",
                                                        "grpc/",
                                                        "google/",
                                                        "azure/",
                                                        "diffusers/",
                                                        "peft/",
                                                        "trl/",
                                                        "bitsandbytes/",
                                                        "timm/",
                                                        "fairscale/",
                                                        "vllm/",
                                                        "psutil/",
                                                        "cloudpickle/",
                                                        "sympy/",
                                                        "networkx/"};

// What starts the program and is not it.
constexpr std::array<std::string_view, 10> kLaunchers = {"runpy.py",
                                                         "torch/distributed/run.py",
                                                         "torch/distributed/launch",
                                                         "torch/distributed/elastic/",
                                                         "multiprocessing/spawn.py",
                                                         "multiprocessing/process.py",
                                                         "multiprocessing/popen_",
                                                         "torch/multiprocessing/spawn.py",
                                                         "accelerate/commands/",
                                                         "deepspeed/launcher/"};

struct Pattern {
  std::string_view file;      // part of the path
  std::string_view function;  // begin of the name; "" is any
  std::string_view what;      // "" is the name of the function
};

// Processes beside the ranks: what they do says nothing of the job.
constexpr std::array<Pattern, 9> kHelpers = {Pattern{"torch/distributed/elastic/agent/", "", ""},
                                             Pattern{"torch/distributed/launcher/", "", ""},
                                             Pattern{"torch/multiprocessing/spawn.py", "join", ""},
                                             Pattern{"torch/utils/data/_utils/worker.py", "", ""},
                                             Pattern{"torch/_inductor/compile_worker/", "", ""},
                                             Pattern{"deepspeed/launcher/", "", ""},
                                             Pattern{"multiprocessing/resource_tracker.py", "", ""},
                                             Pattern{"multiprocessing/forkserver.py", "", ""},
                                             Pattern{"ray/_private/", "", ""}};

// Waits for other ranks. Any frame of torch/distributed is one unless listed below.
constexpr std::array<Pattern, 10> kWaits = {
    Pattern{"torch/distributed/pipelining/", "", "a pipeline send or receive"},
    Pattern{"torch/distributed/fsdp/", "", "FSDP communication"},
    Pattern{"torch/distributed/_composable/", "", "FSDP communication"},
    Pattern{"torch/distributed/rendezvous.py", "", "the rendezvous"},
    Pattern{"torch/distributed/tensor/", "", "DTensor communication"},
    Pattern{"p2p_communication.py", "", "send or receive"},
    Pattern{"deepspeed/comm/", "", ""},
    Pattern{"horovod/", "synchronize", ""},
    Pattern{".so", "nccl", ""},
    Pattern{".so", "c10d::", "a collective"}};

// Waits for the device.
constexpr std::array<Pattern, 7> kSyncs = {
    Pattern{"torch/cuda/", "synchronize", ""},
    Pattern{"torch/cuda/streams.py", "wait", "a CUDA stream"},
    Pattern{"torch/accelerator/", "synchronize", ""},
    Pattern{"torch/xpu/", "synchronize", ""},
    Pattern{".so", "cudaStreamSynchronize", ""},
    Pattern{".so", "cudaEventSynchronize", ""},
    Pattern{".so", "cudaDeviceSynchronize", ""}};

// Of torch/distributed, and no waits.
constexpr std::array<std::string_view, 8> kNoWaits = {"torch/distributed/elastic/",
                                                      "torch/distributed/checkpoint/",
                                                      "torch/distributed/run.py",
                                                      "torch/distributed/launch",
                                                      "torch/distributed/debug",
                                                      "torch/distributed/tensor/_dispatch",
                                                      "torch/distributed/tensor/_sharding",
                                                      "torch/distributed/tensor/_ops"};

// Own work: the outermost of these below the user's frame says what.
constexpr std::array<Pattern, 26> kWorks = {
    Pattern{"torch/utils/data/", "", "the data loader"},
    Pattern{"torch/serialization.py", "save", "torch.save"},
    Pattern{"torch/serialization.py", "_save", "torch.save"},
    Pattern{"torch/serialization.py", "load", "torch.load"},
    Pattern{"torch/serialization.py", "", "torch.save or torch.load"},
    Pattern{"torch/distributed/checkpoint/", "", "a checkpoint"},
    Pattern{"torch/_inductor/", "", "torch.compile"},
    Pattern{"torch/_dynamo/", "", "torch.compile"},
    Pattern{"torch/_functorch/", "", "torch.compile"},
    Pattern{"torch/_higher_order_ops/", "", "torch.compile"},
    Pattern{"torch/utils/cpp_extension.py", "", "building an extension"},
    Pattern{"triton/", "", "compiling a Triton kernel"},
    Pattern{"safetensors/", "", "a checkpoint"},
    Pattern{"subprocess.py", "", "a subprocess"},
    Pattern{"multiprocessing/", "", "another process"},
    Pattern{"concurrent/futures/", "", "a future"},
    Pattern{"queue.py", "", "a queue"},
    Pattern{"threading.py", "join", "thread join"},
    Pattern{"threading.py", "", "a lock"},
    Pattern{"filelock/", "", "a file lock"},
    Pattern{"requests/", "", "an HTTP request"},
    Pattern{"urllib", "", "an HTTP request"},
    Pattern{"http/", "", "an HTTP request"},
    Pattern{"socket.py", "", "a socket"},
    Pattern{"shutil.py", "", "copying files"},
    Pattern{"gc", "Garbage-collecting", "garbage collection"}};

// Calls of C that py-spy --native and gdb show: what the thread is in, whatever Python says.
constexpr std::array<Pattern, 12> kNativeWorks = {
    Pattern{"", "nanosleep", "sleep"},    Pattern{"", "clock_nanosleep", "sleep"},
    Pattern{"", "__nanosleep", "sleep"},  Pattern{"", "__clock_nanosleep", "sleep"},
    Pattern{"", "time_sleep", "sleep"},   Pattern{"", "fsync", "fsync"},
    Pattern{"", "__write", "write"},      Pattern{"", "write", "write"},
    Pattern{"", "__libc_write", "write"}, Pattern{"", "__read", "read"},
    Pattern{"", "__libc_read", "read"},   Pattern{"", "__GI___clock_nanosleep", "sleep"}};

constexpr std::array<std::string_view, 7> kDevices = {
    "torch/nn/",        "torch/autograd/",     "torch/optim/", "torch/_ops.py",
    "torch/_tensor.py", "torch/functional.py", "torch/amp/"};

bool IsGenerated(std::string_view file) {
  return file.starts_with('<') || Contains(file, "/torchinductor_");
}

bool IsNative(std::string_view file) {
  return Contains(file, ".so") || file == "python" || file.starts_with("python3") ||
         IsNativeFile(file);
}

bool IsLibrary(std::string_view file) {
  if (IsLibraryFile(file) || IsGenerated(file) || IsNative(file) || file == "gc") return true;
  if (std::find(kModules.begin(), kModules.end(), file) != kModules.end()) return true;
  return std::any_of(kPackages.begin(), kPackages.end(),
                     [&](std::string_view each) { return file.starts_with(each); });
}

bool ContainsOneOf(std::string_view file, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Contains(file, part); });
}

bool Fits(const FrameView& frame, const Pattern& pattern) {
  return Contains(frame.file, pattern.file) && frame.function.starts_with(pattern.function);
}

const Pattern* FindPattern(const FrameView& frame, std::span<const Pattern> patterns) {
  auto found = std::find_if(patterns.begin(), patterns.end(),
                            [&](const Pattern& each) { return Fits(frame, each); });
  return found == patterns.end() ? nullptr : &*found;
}

bool IsDistributed(std::string_view file) {
  return (Contains(file, "torch/distributed/") || Contains(file, "/distributed_c10d.py") ||
          file == "distributed_c10d.py" || Contains(file, "c10d_logger.py")) &&
         !ContainsOneOf(file, kNoWaits);
}

// Wrappers say nothing: the frame of the operation itself has its name.
bool IsWrapper(std::string_view function) {
  return function == "wrapper" || function.starts_with('_') || function == "wait" ||
         function == "<lambda>" || function.starts_with("inner");
}

// Files whose functions have the names of collectives.
bool NamesCollectives(std::string_view file) {
  return Contains(file, "distributed_c10d.py") || Contains(file, "_functional_collectives.py") ||
         Contains(file, "distributed/nn/functional.py");
}

// In what the frames below the user's wait, or nothing. The outermost collective is what was
// called: an all_gather_object is told and not the all_gather inside of it. Frames around it (FSDP,
// pipelines) name the wait where no collective does.
std::string FindWait(std::span<const FrameView> inner) {
  std::string collective, other;
  bool waits = false;
  for (const FrameView& frame : inner) {
    const Pattern* pattern = FindPattern(frame, kWaits);
    if (pattern == nullptr && !IsDistributed(frame.file)) continue;
    if (pattern != nullptr && ContainsOneOf(frame.file, kNoWaits)) continue;
    waits = true;
    std::string_view name = frame.function.substr(0, frame.function.find('('));
    if (NamesCollectives(frame.file)) {
      if (!IsWrapper(name)) collective = name;
    } else if (pattern != nullptr) {
      other = pattern->what.empty() ? name : pattern->what;
    }
  }
  if (!collective.empty() || !other.empty()) return collective.empty() ? other : collective;
  return waits ? "communication" : "";
}

std::string FindSync(std::span<const FrameView> inner) {
  for (const FrameView& frame : inner) {
    const Pattern* pattern = FindPattern(frame, kSyncs);
    if (pattern != nullptr)
      return std::string(pattern->what.empty() ? frame.function : pattern->what);
  }
  return "";
}

// The innermost call of C that tells what it is, before any frame of Python.
const Pattern* FindNativeWork(std::span<const FrameView> inner) {
  constexpr size_t kDepth = 4;
  for (size_t i = 0; i < inner.size() && i < kDepth && IsNative(inner[i].file); ++i) {
    for (const Pattern& each : kNativeWorks) {
      std::string_view name = inner[i].function;
      if (name == each.function || name.starts_with(std::string(each.function) + "@")) return &each;
    }
  }
  return nullptr;
}

std::string FindWork(std::span<const FrameView> inner) {
  if (const Pattern* native = FindNativeWork(inner)) return std::string(native->what);
  for (size_t i = inner.size(); i-- > 0;) {
    if (const Pattern* pattern = FindPattern(inner[i], kWorks)) return std::string(pattern->what);
  }
  return "";
}

bool IsImport(std::string_view file) { return file.starts_with("<frozen importlib"); }

// The innermost frame of the user's own code; in a program that consists of installed packages
// alone, that of the innermost package that is not PyTorch.
size_t FindUser(const std::vector<FrameView>& frames) {
  auto first = [&](auto&& fits) {
    auto found = std::find_if(frames.begin(), frames.end(), fits);
    return static_cast<size_t>(found - frames.begin());
  };
  size_t user = first([](const FrameView& frame) { return !IsLibrary(frame.file); });
  if (user < frames.size()) return user;
  return first([](const FrameView& frame) {
    bool package = Contains(frame.file, "-packages/") &&
                   !Contains(frame.file, "-packages/torch/") &&
                   !Contains(frame.file, "-packages/triton/");
    return package && !ContainsOneOf(frame.file, kLaunchers);
  });
}

void AddPath(const std::vector<FrameView>& frames, StackSummary& summary) {
  for (size_t i = summary.user; i < frames.size(); ++i) {
    bool left_out = IsNative(frames[i].file) || frames[i].file.starts_with("<frozen") ||
                    ContainsOneOf(frames[i].file, kLaunchers);
    if (!left_out) summary.path.push_back(i);
  }
}

bool StartsUp(const std::vector<FrameView>& frames, size_t user) {
  auto import = std::find_if(frames.begin(), frames.end(),
                             [](const FrameView& frame) { return IsImport(frame.file); });
  if (import == frames.end()) return false;
  bool inside = static_cast<size_t>(import - frames.begin()) < user;
  return inside || user >= frames.size() || frames[user].function == "<module>";
}

}  // namespace

StackSummary SummariseStack(const std::vector<FrameView>& frames) {
  StackSummary summary;
  bool helper = std::any_of(frames.begin(), frames.end(), [](const FrameView& frame) {
    return FindPattern(frame, kHelpers) != nullptr;
  });
  if (helper) summary.doing = Doing::kHelper;
  if (helper) return summary;
  bool python = std::any_of(frames.begin(), frames.end(),
                            [](const FrameView& frame) { return !IsNative(frame.file); });
  if (!python) {
    summary.what = FindWait(frames);
    if (!summary.what.empty()) summary.doing = Doing::kWait;
    return summary;
  }
  summary.user = FindUser(frames);
  if (summary.user == frames.size()) summary.user = 0;
  AddPath(frames, summary);
  std::span<const FrameView> inner(frames.data(), summary.user);
  // A frame of the user's may itself be a known wait (a checkout of Megatron).
  std::span<const FrameView> with_user(frames.data(), summary.user + 1);
  if (StartsUp(frames, summary.user)) {
    summary.doing = Doing::kStartUp;
  } else if (summary.what = FindWait(with_user); !summary.what.empty()) {
    summary.doing = Doing::kWait;
  } else if (summary.what = FindSync(inner); !summary.what.empty()) {
    summary.doing = Doing::kSync;
  } else if (summary.what = FindWork(inner); !summary.what.empty()) {
    summary.doing = Doing::kWork;
  } else if (std::all_of(inner.begin(), inner.end(),
                         [](const FrameView& frame) { return IsNative(frame.file); })) {
    summary.doing = Doing::kCall;
  } else if (std::any_of(inner.begin(), inner.end(), [](const FrameView& frame) {
               return ContainsOneOf(frame.file, kDevices);
             })) {
    summary.doing = Doing::kDevice;
  } else {
    summary.doing = Contains(inner.back().file, "torch/") ? Doing::kDevice : Doing::kWork;
    summary.what = inner.back().function;
  }
  return summary;
}

bool IsIdleThread(const std::vector<FrameView>& frames) {
  if (frames.empty()) return true;
  static constexpr std::array<std::string_view, 10> kIdle = {
      "threading.py",  "selectors.py",     "queue.py",     "concurrent/futures/thread.py",
      "pin_memory.py", "tqdm/_monitor.py", "socketserver", "compile_worker",
      "zmq/",          "tensorboard/"};
  return ContainsOneOf(frames.front().file, kIdle);
}

std::string LineInWords(const FrameView& frame) {
  std::string place(FileName(frame.file));
  if (frame.line > 0) place += fmt::format(":{}", frame.line);
  return place;
}

}  // namespace debrief
