#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/compile/rank_compare/rank_compare.h"
#include "base/text/scan.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

constexpr size_t kIdDigits = 9;
constexpr size_t kShownBytes = 120;
constexpr std::array<std::string_view, 5> kDevices = {"cuda:", "xpu:", "hpu:", "mtia:", "npu:"};

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool EndsPath(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("\"'`:,;()[]{}").find(c) != std::string_view::npos;
}

class Normaliser {
 public:
  Normaliser(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/' && Path()) continue;
      if (IsDigit(c) && !InWord()) {
        Number();
      } else {
        out_ += c;
        ++at_;
      }
    }
  }

 private:
  // A digit that belongs to a name: primals_3, i64.
  bool InWord() const { return at_ > 0 && IsWord(text_[at_ - 1]); }

  size_t RunOf(size_t from, bool (*is)(char)) const {
    size_t end = from;
    while (end < text_.size() && is(text_[end])) ++end;
    return end;
  }

  void Number() {
    size_t end = RunOf(at_, IsDigit);
    if (end - at_ == 1 && text_[at_] == '0' && end < text_.size() && text_[end] == 'x') {
      const size_t hex_end = RunOf(end + 1, IsHex);
      if (hex_end > end + 1) return Skip(hex_end);
    }
    if (end - at_ >= kIdDigits || IsDevice()) return Skip(end);
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  bool IsDevice() const {
    const std::string_view before = text_.substr(0, at_);
    return std::any_of(kDevices.begin(), kDevices.end(),
                       [&](std::string_view device) { return before.ends_with(device); });
  }

  // Looked at from its first slash, so each byte of a path once.
  bool Path() {
    if (at_ > 0 && (IsWord(text_[at_ - 1]) || text_[at_ - 1] == '/')) return false;
    size_t end = at_;
    while (end < text_.size() && !EndsPath(text_[end])) ++end;
    const std::string_view path = text_.substr(at_, end - at_);
    if (Contains(path, "torchinductor") || Contains(path, "triton_cache")) {
      Skip(end);
    } else {
      out_ += path;
      at_ = end;
    }
    return true;
  }

  void Skip(size_t end) {
    out_ += '#';
    at_ = end;
  }

  std::string_view text_;
  std::string& out_;
  size_t at_ = 0;
};

// The part of the line around its first difference.
std::string Cut(std::string_view line, size_t difference) {
  while (line.size() > kShownBytes && difference > kShownBytes / 2) {
    const size_t drop = std::min(difference - kShownBytes / 4, line.size() - kShownBytes / 4);
    line.remove_prefix(drop);
    difference = 0;
  }
  size_t size = std::min(line.size(), kShownBytes);
  while (size < line.size() && size > 0 && (line[size] & 0xc0) == 0x80) --size;  // whole characters
  while (!line.empty() && size > 0 && (line[0] & 0xc0) == 0x80) {
    line.remove_prefix(1);
    --size;
  }
  return std::string(line.substr(0, size));
}

}  // namespace

void AppendNormalised(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size());
  Normaliser(text, out).Run();
}

std::string FirstDifference(std::string_view a, std::string_view b) {
  for (size_t number = 1; !a.empty() || !b.empty(); ++number) {
    const bool a_ends = a.empty();
    const bool b_ends = b.empty();
    const std::string_view line_a = TakeLine(a);
    const std::string_view line_b = TakeLine(b);
    if (line_a == line_b && a_ends == b_ends) continue;
    const auto at = static_cast<size_t>(
        std::mismatch(line_a.begin(), line_a.end(), line_b.begin(), line_b.end()).first -
        line_a.begin());
    auto shown = [&](std::string_view line, bool ends) {
      return ends ? std::string("nothing") : fmt::format("`{}`", Cut(line, at));
    };
    return fmt::format("line {}: {} there, {} here", number, shown(line_a, a_ends),
                       shown(line_b, b_ends));
  }
  return {};
}

}  // namespace debrief::analyses::compile_rank_compare
