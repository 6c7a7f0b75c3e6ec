#include "outputs/exports/chrome/event_text.h"

#include <fmt/format.h>

#include "base/text/strings.h"

namespace debrief::outputs::chrome {

namespace {

// Reads the elements of lists one after the other.
class ListChecker {
 public:
  explicit ListChecker(std::string_view text) : text_(text) {}

  bool Check() {
    do {
      SkipBlanks();
      if (At('[')) {
        ++at_;
        ++depth_;
        SkipBlanks();
        if (!At(']')) continue;  // an element must follow
      } else if (!At(']') && !SkipElement()) {
        return false;
      }
      if (!CloseLists()) return false;
    } while (depth_ > 0);
    return at_ == text_.size();
  }

 private:
  bool At(char c) const { return at_ < text_.size() && text_[at_] == c; }

  void SkipBlanks() {
    while (At(' ')) ++at_;
  }

  bool SkipElement() {
    if (depth_ == 0) return false;
    if (At('"')) {
      const size_t end = text_.find_first_of("\"\\", at_ + 1);
      if (end == std::string_view::npos || text_[end] != '"') return false;
      for (size_t i = at_; i < end; ++i) {
        if (static_cast<unsigned char>(text_[i]) < ' ') return false;
      }
      at_ = end + 1;
      return true;
    }
    const size_t end = text_.find_first_of(",] ", at_);
    const std::string_view token = text_.substr(at_, end - at_);
    if (!IsNumber(token) && token != "true" && token != "false" && token != "null") return false;
    at_ += token.size();
    return true;
  }

  // Behind an element: brackets that close, then a comma or the end.
  bool CloseLists() {
    for (SkipBlanks(); depth_ > 0 && At(']'); SkipBlanks()) {
      ++at_;
      --depth_;
    }
    if (depth_ == 0) return true;
    if (!At(',')) return false;
    ++at_;
    SkipBlanks();
    return !At(']');
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
};

}  // namespace

void AppendMicros(std::string& out, int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (ns < 0) out += '-';
  const fmt::format_int whole(size / 1000);
  out.append(whole.data(), whole.size());
  const auto rest = static_cast<unsigned>(size % 1000);
  const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  out.append(digits, sizeof(digits));
}

bool IsNumber(std::string_view text) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  return number && text == std::string_view(fmt::format_int(*number).c_str());
}

bool IsPlainList(std::string_view text) {
  return text.starts_with('[') && ListChecker(text).Check();
}

}  // namespace debrief::outputs::chrome
