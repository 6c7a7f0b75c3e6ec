// Lines of a stream that nobody has to trust: a line that is longer than `most` bytes is reported
// as such and forgotten while it comes, so that memory is bounded whatever a client sends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace debrief::mcp {

class LineReader {
 public:
  enum class Kind : unsigned char { kNone, kLine, kTooLong };

  explicit LineReader(size_t most) : most_(most) {}

  // Takes bytes up to the end of the first line in them, and no further: `bytes` loses those. A
  // line is without its end ("\n" or "\r\n") and lives until the next call.
  Kind Take(std::string_view& bytes, std::string_view& line) {
    if (is_given_) line_.clear();
    is_given_ = false;
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    const size_t room = most_ - std::min(most_, line_.size());
    is_too_long_ |= piece.size() > room;
    line_.append(is_too_long_ ? std::string_view() : piece);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    return end == std::string_view::npos ? Kind::kNone : Give(line);
  }

  // What stands behind the last line end, once nothing more comes.
  Kind TakeRest(std::string_view& line) {
    if (is_given_) line_.clear();
    return line_.empty() && !is_too_long_ ? Kind::kNone : Give(line);
  }

 private:
  Kind Give(std::string_view& line) {
    is_given_ = true;
    if (is_too_long_) line_.clear();
    const bool was_too_long = std::exchange(is_too_long_, false);
    if (line_.ends_with('\r')) line_.pop_back();
    line = line_;
    return was_too_long ? Kind::kTooLong : Kind::kLine;
  }

  size_t most_;
  std::string line_;
  bool is_given_ = false;  // line_ was handed out
  bool is_too_long_ = false;
};

}  // namespace debrief::mcp
