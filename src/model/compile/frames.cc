// A compilation begins in torch/_dynamo/convert_frame.py, three functions deep. These frames are
// the same in every stack, and hide where the user's program was.
#include "model/compile/frames.h"

#include <array>

namespace debrief {

namespace {

using Names = std::array<std::string_view, 3>;  // innermost first
constexpr Names kFunctions = {"_convert_frame_assert", "_convert_frame", "catch_errors"};
constexpr Names kCallables = {"__call__", "__call__", "__call__"};

bool InConvertFrame(std::string_view path) {
  constexpr std::string_view kFile = "torch/_dynamo/convert_frame.py";
  if (!path.ends_with(kFile)) return false;
  path.remove_suffix(kFile.size());
  return path.empty() || path.back() == '/';
}

bool BeginsWith(const Pools& pools, std::span<const FrameId> frames, const Names& names) {
  if (frames.size() < names.size()) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    const Frame& frame = pools.GetFrame(frames[i]);
    if (pools.Text(frame.function) != names[i]) return false;
    if (!InConvertFrame(pools.Text(frame.file))) return false;
  }
  return true;
}

}  // namespace

std::string_view ShortPath(std::string_view path) {
  constexpr std::string_view kLinkTree = "#link-tree/";
  if (size_t at = path.find(kLinkTree); at != std::string_view::npos) {
    path.remove_prefix(at + kLinkTree.size());
    return path.substr(0, path.find(kLinkTree));
  }
  if (size_t at = path.find("-seed-nspid"); at != std::string_view::npos) {
    const size_t slash = path.find('/', at);
    if (slash != std::string_view::npos) return path.substr(slash + 1);
  }
  return path;
}

std::string_view WithoutAttempt(std::string_view compile_id) {
  const size_t cut = compile_id.rfind('_');
  const bool numbered =
      cut != std::string_view::npos &&
      compile_id.find_first_not_of("0123456789", cut + 1) == std::string_view::npos;
  return numbered ? compile_id.substr(0, cut) : compile_id;
}

std::span<const FrameId> WithoutConvertFrame(const Pools& pools, StackId stack) {
  std::span<const FrameId> frames = pools.GetStack(stack);
  const bool found = BeginsWith(pools, frames, kFunctions) || BeginsWith(pools, frames, kCallables);
  return found ? frames.subspan(kFunctions.size()) : frames;
}

}  // namespace debrief
