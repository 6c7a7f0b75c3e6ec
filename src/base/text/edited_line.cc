#include "base/text/edited_line.h"

#include <algorithm>

#include "base/text/scan.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr char kEscape = '\x1b';
constexpr char Ctrl(char letter) { return static_cast<char>(letter - 'A' + 1); }

// What all words begin with.
std::string CommonStart(const std::vector<std::string>& words) {
  std::string common = words.front();
  for (const std::string& word : words) {
    auto [end, other] = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace

size_t EditedLine::Before(size_t at) const {
  if (at > 0) --at;
  while (at > 0 && IsContinuation(text_[at])) --at;
  return at;
}

size_t EditedLine::Behind(size_t at) const {
  if (at < text_.size()) ++at;
  while (at < text_.size() && IsContinuation(text_[at])) ++at;
  return at;
}

size_t EditedLine::WordStart() const {
  size_t start = cursor_;
  while (start > 0 && (IsWord(text_[start - 1]) || text_[start - 1] == '.')) --start;
  return start;
}

void EditedLine::Replace(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditedLine::EraseBack(size_t begin) {
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void EditedLine::Recall(size_t at) {
  if (at > history_.size()) return;
  if (at_ == history_.size()) fresh_ = text_;
  at_ = at;
  Replace(at == history_.size() ? fresh_ : history_[at]);
}

EditedLine::Event EditedLine::Complete() {
  const size_t start = WordStart();
  const std::string_view word = std::string_view(text_).substr(start, cursor_ - start);
  choices_ = completer_(word);
  if (choices_.empty()) return Event::kEdited;
  const std::string common = CommonStart(choices_);
  const bool is_longer = common.size() > word.size();
  const bool is_only = choices_.size() == 1;
  EraseBack(start);
  text_.insert(start, common + (is_only ? " " : ""));
  cursor_ = start + common.size() + (is_only ? 1 : 0);
  return is_longer || is_only ? Event::kEdited : Event::kListed;
}

// The end of ESC [ A and the like.
void EditedLine::TakeSequence(char last) {
  const bool is_delete = sequence_ == "\x1b[3" && last == '~';
  if (last == 'A' && at_ > 0) Recall(at_ - 1);
  if (last == 'B') Recall(at_ + 1);
  if (last == 'C') cursor_ = Behind(cursor_);
  if (last == 'D') cursor_ = Before(cursor_);
  if (last == 'H') cursor_ = 0;
  if (last == 'F') cursor_ = text_.size();
  if (is_delete) text_.erase(cursor_, Behind(cursor_) - cursor_);
}

EditedLine::Event EditedLine::TakeControl(char byte) {
  if (byte == '\r' || byte == '\n') return Event::kDone;
  if (byte == '\t') return Complete();
  if (byte == Ctrl('C')) return Event::kCancelled;
  if (byte == Ctrl('D') && text_.empty()) return Event::kEnded;
  if (byte == Ctrl('A')) cursor_ = 0;
  if (byte == Ctrl('E')) cursor_ = text_.size();
  if (byte == Ctrl('B')) cursor_ = Before(cursor_);
  if (byte == Ctrl('F')) cursor_ = Behind(cursor_);
  if (byte == Ctrl('P') && at_ > 0) Recall(at_ - 1);
  if (byte == Ctrl('N')) Recall(at_ + 1);
  if (byte == Ctrl('U')) EraseBack(0);
  if (byte == Ctrl('K')) text_.erase(cursor_);
  if (byte == Ctrl('W')) EraseBack(std::min(WordStart(), Before(cursor_)));
  if (byte == Ctrl('D')) text_.erase(cursor_, Behind(cursor_) - cursor_);
  if (byte == Ctrl('H') || byte == '\x7f') EraseBack(Before(cursor_));
  return Event::kEdited;
}

EditedLine::Event EditedLine::Take(char byte) {
  if (!sequence_.empty()) {
    const bool is_begin = sequence_.size() == 1 && (byte == '[' || byte == 'O');
    const bool is_inside = sequence_.size() > 1 && (byte < '@' || byte > '~');
    if (!is_begin && !is_inside && sequence_.size() > 1) TakeSequence(byte);
    if (is_begin || is_inside)
      sequence_ += byte;
    else
      sequence_.clear();
    return Event::kEdited;
  }
  if (byte == kEscape) {
    sequence_ = byte;
    return Event::kEdited;
  }
  if ((byte >= 0 && byte < ' ') || byte == '\x7f') return TakeControl(byte);
  text_.insert(cursor_++, 1, byte);
  return Event::kEdited;
}

}  // namespace debrief
