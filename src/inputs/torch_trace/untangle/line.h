// What the search knows of one payload line: hashes that stand for its text and for its shape, and
// its role in pretty-printed JSON. Computed once a line.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace debrief::inputs::torch_trace {

constexpr uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

struct Line {
  static constexpr size_t kTags = 12;

  uint64_t text = 0;   // equal for equal lines
  uint64_t shape = 0;  // equal for lines that differ only in values: numbered words, JSON values
  uint64_t key = 0;    // of `"key": ...`, else 0
  uint32_t indent = 0;
  bool blank = false;
  bool json = false;   // could stand in pretty-printed JSON
  bool comma = false;  // ends with one
  char opens = 0;      // '{' or '[' at its end
  char closes = 0;     // '}' or ']' at its start
  // Words with a digit such as `cuda:1`: some of them occur in one rank only.
  struct Tag {
    uint32_t word = 0;
    uint32_t form = 0;  // `cuda:#`
  };
  uint8_t tag_count = 0;
  std::array<Tag, kTags> tags = {};
};

Line DescribeLine(std::string_view text);

// How far a payload follows pretty-printed JSON (one element a line, indentation lost). Rules are
// costs, not vetoes: a string may look like structure.
class JsonShape {
 public:
  // Takes the next line in; returns its cost.
  int32_t Step(const Line& line);
  bool IsJson() const { return kind_ == Kind::kJson; }
  bool IsComplete() const { return IsJson() && depth_ == 0; }

 private:
  enum class Kind : uint8_t { kNothing, kText, kJson };
  static constexpr uint32_t kLevels = 4;

  int32_t Start(const Line& line);
  int32_t Element(const Line& line);
  int32_t Close(const Line& line);
  void Open(char bracket);

  // A bit for each key of the objects that are open, a set for each of the inner levels. Deeper
  // levels share sets.
  std::array<uint64_t, kLevels> keys_ = {};
  uint64_t objects_ = 0;  // a bit for each level, innermost lowest: an object, not an array
  uint32_t depth_ = 0;
  Kind kind_ = Kind::kNothing;
  bool wants_element_ = false;  // after a comma
  bool just_opened_ = false;
};

}  // namespace debrief::inputs::torch_trace
