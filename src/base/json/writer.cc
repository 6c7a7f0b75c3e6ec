#include "base/json/writer.h"

#include <cmath>
#include <iterator>

#include "base/text/escape.h"

namespace debrief {

JsonWriter& JsonWriter::Key(std::string_view key) {
  Value(key);
  *out_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  AppendJsonString(*out_, text);
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  Separate();
  fmt::format_to(std::back_inserter(*out_), "{}", number);
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  *out_ += json;
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket, bool inline_list) {
  Separate();
  *out_ += bracket;
  ++depth_;
  empty_ = true;
  inline_ = inline_list;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  --depth_;
  if (!empty_ && !inline_) BreakLine();
  *out_ += bracket;
  empty_ = false;
  inline_ = false;
  return *this;
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!empty_) *out_ += inline_ && indent_ > 0 ? ", " : ",";
  if (depth_ > 0 && !inline_) BreakLine();
  empty_ = false;
}

void JsonWriter::BreakLine() {
  if (indent_ == 0) return;
  *out_ += '\n';
  out_->append(static_cast<size_t>(depth_) * static_cast<size_t>(indent_), ' ');
}

}  // namespace debrief
