#include "torch/stacks/user_frames.h"

#include <algorithm>
#include <array>

#include "base/text/strings.h"

namespace debrief {

namespace {

// Code that Inductor wrote, wherever its cache is: "c" and a SHA-256 in base 32, 51 characters.
bool IsNamedByInductor(std::string_view name) {
  constexpr size_t kLength = 52;
  name = name.substr(0, name.find('.'));
  return name.size() == kLength && name[0] == 'c' &&
         std::ranges::all_of(name, [](char c) { return IsLower(c) || IsDigit(c); });
}

}  // namespace

bool IsLibraryFile(std::string_view file) {
  static constexpr std::array<std::string_view, 15> kParts = {"/torch/",
                                                              "site-packages/",
                                                              "dist-packages/",
                                                              "lib/python3",
                                                              "torchinductor_",
                                                              "<frozen ",
                                                              "<string>",
                                                              "/lightning/pytorch/",
                                                              "/lightning/fabric/",
                                                              "/pytorch_lightning/",
                                                              "/lightning_fabric/",
                                                              "/deepspeed/runtime/",
                                                              "/deepspeed/comm/",
                                                              "/accelerate/utils/",
                                                              "/accelerate/accelerator.py"};
  // Tools that shorten names (py-spy, some traces) leave the base name alone.
  static constexpr std::array<std::string_view, 6> kNames = {
      "distributed_c10d.py", "c10d_logger.py", "contextlib.py",
      "_contextlib.py",      "runpy.py",       "_functional_collectives.py"};
  return file.starts_with("torch/") || IsNamedByInductor(FileName(file)) ||
         std::find(kNames.begin(), kNames.end(), file) != kNames.end() ||
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return file.find(part) != std::string_view::npos;
         });
}

std::string_view PackageOf(std::string_view file) {
  if (!IsLibraryFile(file)) return {};
  for (std::string_view folder : {"site-packages/", "dist-packages/"}) {
    const size_t at = file.find(folder);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = file.substr(at + folder.size());
    return rest.substr(0, rest.find_first_of("/."));
  }
  if (file.starts_with("torch/") || file.find("/torch/") != std::string_view::npos) return "torch";
  const bool standard = file.find("lib/python3") != std::string_view::npos;
  return standard || file.starts_with("<frozen ") ? "Python" : "libraries";
}

bool IsNativeFile(std::string_view file) {
  static constexpr std::array<std::string_view, 10> kEnds = {".c",   ".cc", ".cpp", ".cxx", ".cu",
                                                             ".cuh", ".h",  ".hpp", ".inl", ".so"};
  return file.empty() || file == "??" ||
         std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return file.ends_with(end); });
}

bool IsUserFile(std::string_view file) { return !IsLibraryFile(file) && !IsNativeFile(file); }

std::span<const FrameId> UserFrames(const Pools& pools, StackId stack) {
  std::span<const FrameId> frames = pools.GetStack(stack);
  auto first = std::find_if(frames.begin(), frames.end(), [&](FrameId id) {
    return IsUserFile(pools.Text(pools.GetFrame(id).file));
  });
  if (first == frames.end()) return frames;
  return frames.subspan(static_cast<size_t>(first - frames.begin()));
}

}  // namespace debrief
