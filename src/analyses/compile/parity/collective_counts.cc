#include "analyses/compile/parity/collective_counts.h"

#include <numeric>

#include "base/text/scan.h"

namespace debrief::analyses::compile_parity {

namespace {

// The part of a dotted name that says what is done: the one before ".default".
std::string_view OpName(std::string_view op) {
  TakeSuffix(op, ".default");
  op.remove_prefix(op.rfind('.') + 1);  // npos + 1 is 0
  while (TakeSuffix(op, "_")) continue;
  return op;
}

// A cursor over Python text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  CollectiveCounts Run() {
    CollectiveCounts counts;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#') {
        SkipLine();
      } else if (c == '"' || c == '\'') {
        SkipString(c);
      } else if (!IsWord(c)) {
        ++at_;
      } else {
        std::string_view op = TakeCall();
        if (!op.empty()) counts.Add(op);
      }
    }
    return counts;
  }

 private:
  void SkipLine() {
    size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end;
  }

  // A string of one line ends there even when its quote does not come: the text may be no Python.
  void SkipString(char quote) {
    std::string_view rest = text_.substr(at_);
    bool is_long = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == '\n' && !is_long) {
        return;
      } else if (c == quote && (!is_long || text_.substr(at_, 3) == rest.substr(0, 3))) {
        at_ += is_long ? 3 : 1;
        return;
      }
    }
  }

  std::string_view TakeWord() {
    size_t begin = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool TakeChar(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    SkipBlanks();
    return true;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }

  // Stands at a word and moves past it, and as much further as it looks like a call; the op when it
  // is one. What was looked at and is none is no beginning of another either: no word of it is
  // "torch", but the one that did not fit, where it stops.
  std::string_view TakeCall() {
    if (TakeWord() != "torch" || !TakeChar('.')) return {};
    if (!Expect("ops") || !TakeChar('.')) return {};
    if (!Expect("_c10d_functional") && !Expect("c10d_functional")) return {};
    if (!TakeChar('.')) return {};
    std::string_view op = Peek();
    if (op == "torch") return {};
    at_ += op.size();
    if (!TakeChar('.') || !Expect("default") || !TakeChar('(')) return {};
    return op;
  }

  std::string_view Peek() {
    size_t begin = at_;
    std::string_view word = TakeWord();
    at_ = begin;
    return word;
  }

  bool Expect(std::string_view word) {
    if (Peek() != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

void CollectiveCounts::Add(std::string_view op) {
  std::string_view name = OpName(op);
  if (Contains(name, "wait_tensor")) return static_cast<void>(++waits);
  for (size_t kind = 0; kind + 1 < kCollectives.size(); ++kind) {
    if (Contains(name, kCollectives[kind])) return static_cast<void>(++by_kind[kind]);
  }
  if (name == kCollectives.back()) ++by_kind.back();
}

int64_t CollectiveCounts::total() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), int64_t{0});
}

CollectiveCounts CountCalls(std::string_view code) { return Scanner(code).Run(); }

}  // namespace debrief::analyses::compile_parity
