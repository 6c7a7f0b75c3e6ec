// Frames of stacks as HTML, each made once: a log of 2,000 compilations shows the same few hundred
// frames 240,000 times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/pools/ids.h"

namespace debrief::outputs::tlparse_tree {

class FrameTexts {
 public:
  // `dumps`: paths of dumped files in the tree; a frame in one of them links to it. `source_link`:
  // where all others link to, with {path} and {line}; empty for nowhere. All must outlive this.
  FrameTexts(const Pools& pools, const std::unordered_set<std::string_view>& dumps,
             std::string_view source_link)
      : pools_(pools), dumps_(dumps), source_link_(source_link) {}

  void Add(std::span<const FrameId> frames);

  // From here on const, for any number of threads. `root` is the way to the root of the tree.
  void AppendFrame(FrameId frame, std::string_view root, std::string& out) const;
  // A list, outermost frame first; `frames` are innermost first, as in the model.
  void AppendStack(std::span<const FrameId> frames, std::string_view root, std::string& out) const;
  // The same, folded away under `caption`.
  void AppendFolded(std::string_view caption, std::span<const FrameId> frames,
                    std::string_view root, std::string& out) const;

 private:
  // Where it lies in text_. The way to the root of the tree is put in at `link`, if there is one.
  struct Place {
    size_t begin, link, end;
  };

  Place Make(const Frame& frame);
  void AppendSourceLink(std::string_view file, int32_t line);

  const Pools& pools_;
  const std::unordered_set<std::string_view>& dumps_;
  std::string_view source_link_;
  std::string text_;
  std::unordered_map<FrameId, Place> places_;
};

}  // namespace debrief::outputs::tlparse_tree
