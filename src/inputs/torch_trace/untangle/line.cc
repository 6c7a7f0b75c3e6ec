#include "inputs/torch_trace/untangle/line.h"

#include <algorithm>

#include "base/bytes/hash.h"
#include "base/text/strings.h"

namespace debrief::inputs::torch_trace {

namespace {

// Words of longer lines say nothing new about their owner.
constexpr size_t kLongest = 512;

bool IsWordByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == ':' || c == '(' || c == '=' || c == '/' || c == '-';
}

// The length of `"key": ` at the start, with the quotes and the colon; 0 without.
size_t KeyLength(std::string_view text) {
  if (text.empty() || text[0] != '"') return 0;
  size_t end = text.find("\": ", 1);
  return end == std::string_view::npos ? 0 : end + 2;
}

bool LooksLikeJson(const Line& line, std::string_view text) {
  if (text.empty()) return false;
  char first = text[0];
  char last = text.back();
  if (line.closes != 0) return text.size() == 1 || (text.size() == 2 && line.comma);
  if (line.opens != 0) return text.size() == 1 || line.key != 0;
  if (first == '"') return line.key != 0 || last == '"' || (line.comma && text.size() > 1);
  if (IsDigit(first) || first == '-') {
    return text.find_first_not_of("0123456789+-.eE,") == std::string_view::npos;
  }
  std::string_view value = line.comma ? text.substr(0, text.size() - 1) : text;
  return value == "true" || value == "false" || value == "null" || value == "NaN" ||
         value == "[]" || value == "{}" || value == "[" || value == "{";
}

void AddTag(std::string_view word, Line* line) {
  constexpr size_t kLongestWord = 40;
  if (line->tag_count == Line::kTags || word.size() > kLongestWord) return;
  std::array<char, kLongestWord> form;
  std::transform(word.begin(), word.end(), form.begin(),
                 [](char c) { return IsDigit(c) ? '#' : c; });
  Line::Tag& tag = line->tags[line->tag_count++];
  tag.word = static_cast<uint32_t>(HashBytes(word));
  tag.form = static_cast<uint32_t>(HashBytes({form.data(), word.size()}));
}

// Hashes the text with each word that has a digit replaced by one mark, and collects these words.
uint64_t HashShape(std::string_view text, Line* line) {
  uint64_t hash = 1;
  size_t plain = 0;  // start of the bytes not hashed yet
  for (size_t at = 0; at < text.size();) {
    if (!IsWordByte(text[at])) {
      ++at;
      continue;
    }
    size_t start = at;
    bool digit = false;
    bool letter = false;
    for (; at < text.size() && IsWordByte(text[at]); ++at) {
      digit |= IsDigit(text[at]);
      letter |= !IsDigit(text[at]) && text[at] != '.';
    }
    if (!digit) continue;
    hash = Mix(hash, HashBytes(text.substr(plain, start - plain)));
    plain = at;
    if (letter) AddTag(text.substr(start, at - start), line);
  }
  return Mix(hash, HashBytes(text.substr(plain)));
}

}  // namespace

Line DescribeLine(std::string_view text) {
  Line line;
  line.text = HashBytes(text);
  size_t indent = text.find_first_not_of(' ');
  line.blank = indent == std::string_view::npos;
  if (line.blank) {
    line.shape = Mix(2, text.size());
    return line;
  }
  line.indent = static_cast<uint32_t>(std::min<size_t>(indent, 1000));
  line.comma = text.back() == ',';
  if (text.back() == '{' || text.back() == '[') line.opens = text.back();
  if (text[0] == '}' || text[0] == ']') line.closes = text[0];
  size_t key = KeyLength(text);
  if (key != 0) line.key = HashBytes(text.substr(0, key)) | 1;
  line.json = LooksLikeJson(line, text);
  uint64_t words = HashShape(text.substr(0, kLongest), &line);
  bool pair = line.json && line.key != 0;
  line.shape = pair ? Mix(line.key, static_cast<uint64_t>(line.opens)) : words;
  return line;
}

}  // namespace debrief::inputs::torch_trace
