#include "app/bundle/system_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/terminal.h"
#include "base/bytes/unique_fd.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "base/version.h"

namespace debrief::bundle {

namespace {

namespace fs = std::filesystem;

// Files of /proc have no size. At most `most` bytes.
std::string ReadSmallFile(const std::string& path, size_t most = 64 << 10) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text(most, '\0');
  size_t size = 0;
  while (file.valid() && size < most) {
    const ssize_t got = read(file.get(), text.data() + size, most - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

// Each read gives one record: "6,1234,5678,-;NVRM: ...".
std::vector<std::string> KernelLines() {
  constexpr size_t kMostRecords = 100'000, kMostLines = 200;
  constexpr std::array<std::string_view, 8> kWords = {
      "NVRM", "Xid", "nvidia", "Out of memory", "oom-kill", "mlx5", "blocked for more", "segfault"};
  std::vector<std::string> lines;
  const UniqueFd log(open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string record(8192, '\0');
  for (size_t i = 0; log.valid() && i < kMostRecords; ++i) {
    const ssize_t got = read(log.get(), record.data(), record.size());
    if (got <= 0) break;
    std::string_view text(record.data(), static_cast<size_t>(got));
    text = FirstLine(text.substr(std::min(text.find(';'), text.size() - 1) + 1));
    const bool is_wanted =
        std::ranges::any_of(kWords, [&](std::string_view word) { return Contains(text, word); });
    if (is_wanted) lines.emplace_back(text);
    if (lines.size() > kMostLines) lines.erase(lines.begin());
  }
  return lines;
}

// Settings that change what PyTorch, NCCL and launchers do; no others.
std::vector<std::string> Settings() {
  constexpr std::array<std::string_view, 22> kBeginnings = {
      "NCCL_",   "TORCH",   "PYTORCH_",  "CUDA_",  "SLURM_",
      "OMP_",    "MKL_",    "GLOO_",     "RANK=",  "WORLD_SIZE=",
      "LOCAL_",  "MASTER_", "TP_",       "FI_",    "UCX_",
      "NVIDIA_", "TRITON_", "INDUCTOR_", "PYTHON", "LD_LIBRARY_PATH=",
      "GROUP_",  "ROLE_"};
  std::vector<std::string> settings;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view setting = *each;
    if (std::ranges::any_of(kBeginnings,
                            [&](std::string_view b) { return setting.starts_with(b); }))
      settings.emplace_back(setting.substr(0, 1000));
  }
  std::ranges::sort(settings);
  return settings;
}

std::string Block(std::string_view title, const std::vector<std::string>& lines) {
  std::string text = fmt::format("\n## {}\n\n", title);
  if (lines.empty()) return text + "(none, or not readable here)\n";
  text += "```\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "```\n";
}

std::vector<std::string> Gpus() {
  std::vector<std::string> lines;
  if (std::string driver = ReadSmallFile("/proc/driver/nvidia/version"); !driver.empty())
    lines.emplace_back(FirstLine(driver));
  std::error_code error;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    const std::string text = ReadSmallFile(gpu.path() / "information");
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view line = TakeLine(rest);
      if (line.starts_with("Model") || line.starts_with("GPU Firmware")) lines.emplace_back(line);
    }
  }
  return lines;
}

std::vector<std::string> Versions() {
  std::vector<std::string> lines = {fmt::format("debrief {}", kVersion)};
  utsname names;
  if (uname(&names) == 0)
    lines.push_back(fmt::format("{} {} {}", names.sysname, names.release, names.machine));
  const std::string system = ReadSmallFile("/etc/os-release");
  std::string_view rest = system;
  while (!rest.empty()) {
    std::string_view line = TakeLine(rest);
    if (TakePrefix(line, "PRETTY_NAME=")) lines.emplace_back(Trimmed(line, "\""));
  }
  const std::string memory = ReadSmallFile("/proc/meminfo", 4096);
  lines.push_back(fmt::format("{} CPUs; {}", sysconf(_SC_NPROCESSORS_ONLN), FirstLine(memory)));
  return lines;
}

// Of the Python environment that is active, as its folders tell: what a report of a bug asks for.
std::vector<std::string> Packages() {
  constexpr std::array<std::string_view, 12> kBeginnings = {
      "torch", "triton",     "nvidia_",   "numpy",    "transformers", "accelerate",
      "ray-",  "deepspeed-", "lightning", "pytorch_", "megatron",     "flash_attn"};
  std::vector<std::string> packages;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    std::error_code error;
    const std::string root = Environment(variable);
    if (root.empty()) continue;
    for (const auto& python : fs::directory_iterator(root + "/lib", error)) {
      for (const auto& each : fs::directory_iterator(python.path() / "site-packages", error)) {
        std::string name = each.path().filename().string();
        const bool is_wanted = std::ranges::any_of(
            kBeginnings, [&](std::string_view b) { return name.starts_with(b); });
        if (is_wanted && name.ends_with(".dist-info"))
          packages.push_back(name.substr(0, name.size() - 10));
      }
    }
  }
  std::ranges::sort(packages);
  return packages;
}

}  // namespace

std::string SystemText() {
  return "# The machine on which this bundle was made\n\nNot always that of the job.\n" +
         Block("Versions", Versions()) + Block("Python packages", Packages()) +
         Block("GPUs", Gpus()) + Block("Settings (environment)", Settings()) +
         Block("Kernel log", KernelLines());
}

}  // namespace debrief::bundle
