#include "doctor/shell_words.h"

#include "base/text/strings.h"

namespace debrief::doctor {

namespace {

constexpr size_t kMostCommands = 20'000;

class ScriptSplitter {
 public:
  explicit ScriptSplitter(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> Split() {
    while (at_ < text_.size() && commands_.size() < kMostCommands) Step();
    EndCommand();
    return std::move(commands_);
  }

 private:
  char Next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void Step() {
    const char c = text_[at_];
    if (c == '\\') return Escape();
    if (c == '\'' || c == '"') return Quote(c);
    if (c == '#' && !is_word_) return SkipLine();
    if (c == '\n') {
      EndCommand();
      ++line_;
    } else if (IsSpace(c)) {
      EndWord();
    } else if (c == ';' || c == '|' || (c == '&' && Next() != '>' && !word_.ends_with('>'))) {
      EndCommand();
    } else {
      Append(c);
    }
    ++at_;
  }

  void Escape() {
    if (Next() == '\n') {
      ++line_;
    } else if (Next() == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n') {
      ++line_;
      ++at_;
    } else if (at_ + 1 < text_.size()) {
      Append(Next());
    }
    at_ += 2;
  }

  void Quote(char quote) {
    is_word_ = true;
    Begin();
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (quote == '"' && text_[at_] == '\\' && (Next() == '"' || Next() == '\\')) ++at_;
      if (at_ >= text_.size()) break;
      line_ += text_[at_] == '\n';
      word_ += text_[at_];
    }
    ++at_;
  }

  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void Append(char c) {
    is_word_ = true;
    Begin();
    word_ += c;
  }

  void Begin() {
    if (command_.words.empty() && word_.empty()) command_.line = line_;
  }

  void EndWord() {
    if (is_word_) command_.words.push_back(std::move(word_));
    word_.clear();
    is_word_ = false;
  }

  void EndCommand() {
    EndWord();
    if (!command_.words.empty()) commands_.push_back(std::move(command_));
    command_ = {};
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
  bool is_word_ = false;  // a word has begun: '' is one, too
  std::string word_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> SplitScript(std::string_view text) {
  return ScriptSplitter(text).Split();
}

}  // namespace debrief::doctor
