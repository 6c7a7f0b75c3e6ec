// Which keys the beginning of a JSON text has, without parsing the text: for telling formats apart.
//
// The outline of   {"schema": 1, "events": [{"ph": "X", "args": {"rank": 3}}, ...
// is the paths     schema, events, events[].ph, events[].args, events[].args.rank
//
// The text may be cut anywhere, have NaN and other things that JSON has not; scanning stops at the
// first byte that cannot be. Cost: one pass over the text; at most kMaxPaths distinct paths of
// kMaxDepth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debrief {

class JsonOutline {
 public:
  static constexpr size_t kMaxPaths = 512;
  static constexpr int kMaxDepth = 6;

  // Null when `text` does not begin (after white space) with { or [.
  static std::optional<JsonOutline> Of(std::string_view text);

  bool is_array() const { return is_array_; }
  bool Has(std::string_view path) const;

  // The first scalar met at `path`, as it stands in the text, strings without their quotes and not
  // unescaped: "3", "1.5", "true", "nccl". Null when the path has none.
  std::optional<std::string_view> Scalar(std::string_view path) const;
  std::optional<int64_t> Integer(std::string_view path) const;

  struct Entry {
    std::string path;
    std::string scalar;
    bool has_scalar = false;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  friend class JsonOutlineScanner;
  bool is_array_ = false;
  std::vector<Entry> entries_;  // in order of first sight
};

}  // namespace debrief
