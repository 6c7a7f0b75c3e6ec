#include "base/json/canonical.h"

#include <algorithm>
#include <cstring>

#include "base/json/canonical_number.h"
#include "base/json/canonical_string.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief {

using json_canonical::CopyToBackslash;
using json_canonical::kBadEscape;
using json_canonical::kBlock;
using json_canonical::kMaxEscapedBytes;
using json_canonical::Put;
using json_canonical::PutEscaped;
using json_canonical::PutShort;
using json_canonical::TakeEscape;

namespace {

constexpr uint32_t kMaxDepth = 128;  // of containers: the 128th is refused, as serde_json does
constexpr size_t kMinCapacity = 4096;
// What a value takes besides its text, the bytes of its key and its indentation: quotes, colon,
// blank, comma, line break, and what a number may grow by. A closing bracket takes no more.
constexpr size_t kValueRoom = kCanonicalNumberBytes + 6;

// The first 8 bytes with the first one highest, filled up with zeros.
uint64_t PrefixOf(std::string_view key, const char* end) {
  uint64_t bytes = 0;
  if (static_cast<size_t>(end - key.data()) >= sizeof bytes) {
    std::memcpy(&bytes, key.data(), sizeof bytes);
  } else {
    std::memcpy(&bytes, key.data(), std::min(key.size(), sizeof bytes));
  }
  bytes = __builtin_bswap64(bytes);
  if (key.size() >= sizeof bytes) return bytes;
  return key.empty() ? 0 : bytes & ~uint64_t{0} << (64 - 8 * key.size());
}

// Less than 0, 0, or more: by bytes, as unsigned.
template <typename Member>
int Compare(const Member& a, const Member& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
  return a.key_view().compare(b.key_view());
}

// By key, equal keys in the order they came in. Most objects have a few members, and many are in
// order already.
template <typename Iterator>
void SortMembers(Iterator begin, Iterator end) {
  constexpr ptrdiff_t kFew = 24;
  auto less = [](const auto& a, const auto& b) {
    const int order = Compare(a, b);
    return order != 0 ? order < 0 : a.value < b.value;
  };
  if (end - begin > kFew) {
    if (!std::is_sorted(begin, end, less)) std::sort(begin, end, less);
    return;
  }
  for (Iterator at = begin; at != end; ++at) {
    auto member = *at;
    Iterator hole = at;
    for (; hole != begin && less(member, hole[-1]); --hole) *hole = hole[-1];
    *hole = member;
  }
}

}  // namespace

bool JsonCanonical::Append(std::string_view text, JsonStyle style, std::string& out) {
  return Read(text, style) && Flush(Write(), out);
}

bool JsonCanonical::AppendReplacing(std::string_view text, std::span<const JsonExtraField> fields,
                                    JsonStyle style, std::string& out) {
  if (!Read(text, style)) return false;
  Object* root = root_object();
  if (root == nullptr) return false;
  for (const JsonExtraField& field : fields) {
    if (Member* member = FindMember(*root, field.key)) RemoveMember(*root, member);
  }
  AddExtras(*root, fields);
  return Flush(Write(), out);
}

JsonCanonical::Added JsonCanonical::AppendAdding(std::string_view text,
                                                 std::span<const JsonExtraField> fields,
                                                 JsonStyle style, std::string& out) {
  using Outcome = Added::Outcome;
  if (!Read(text, style)) return {};
  Object* root = root_object();
  if (root == nullptr) return {};
  const auto conflict = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
    return FindMember(*root, field.key) != nullptr;
  });
  const bool conflicts = conflict != fields.end();
  if (!conflicts) AddExtras(*root, fields);
  const char* end = Write();  // a text that is refused has no conflicts
  if (end == nullptr) return {};
  if (conflicts) {
    return {.outcome = Outcome::kConflict,
            .conflict = static_cast<size_t>(conflict - fields.begin())};
  }
  Flush(end, out);
  return {.outcome = Outcome::kWritten};
}

// --- the first walk -----------------------------------------------------------------------------

bool JsonCanonical::Read(std::string_view text, JsonStyle style) {
  text_ = text;
  style_ = style;
  extras_ = {};
  open_.clear();
  members_.clear();
  objects_.clear();
  dropped_.clear();
  if (unescaped_.bytes_reserved() != 0) unescaped_ = Arena();
  room_ = text.size() + kBlock;
  at_ = 0;
  return FindTokens() && ReadValue(0) && at_ == tokens_;
}

bool JsonCanonical::FindTokens() {
  if (parser_ == nullptr || parser_->capacity() < text_.size()) {
    const size_t capacity = std::max(text_.size() + text_.size() / 2, kMinCapacity);
    parser_.reset();
    const auto* simd =
        static_cast<const simdjson::implementation*>(simdjson::get_active_implementation());
    if (simd->create_dom_parser_implementation(capacity, 1, parser_) != simdjson::SUCCESS) {
      parser_.reset();
      return false;
    }
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(text_.data());
  const auto error = parser_->stage1(bytes, text_.size(), simdjson::stage1_mode::regular);
  starts_ = parser_->structural_indexes.get();
  tokens_ = parser_->n_structural_indexes;
  return error == simdjson::SUCCESS;
}

bool JsonCanonical::ReadValue(uint32_t depth) {
  const size_t indentation = 2 * (size_t{style_.indent_levels} + depth);
  room_ += indentation + kValueRoom;
  switch (Byte(at_)) {
    case '{':
      room_ += indentation + kValueRoom;
      return depth + 1 < kMaxDepth && ReadObject(depth + 1);
    case '[':
      room_ += indentation + kValueRoom;
      return depth + 1 < kMaxDepth && ReadArray(depth + 1);
    case '}':
    case ']':
    case ':':
    case ',':
      return false;
    default:
      ++at_;  // a scalar, or no token at all: the caller misses what must follow it
      return true;
  }
}

bool JsonCanonical::ReadArray(uint32_t depth) {
  if (Byte(++at_) == ']') {
    ++at_;
    return true;
  }
  while (true) {
    if (!ReadValue(depth)) return false;
    const char separator = Byte(at_++);
    if (separator == ']') return true;
    if (separator != ',') return false;
  }
}

bool JsonCanonical::ReadObject(uint32_t depth) {
  const uint32_t token = at_;
  const size_t first_open = open_.size();
  if (Byte(++at_) == '}') {
    ++at_;
    return CloseObject(token, first_open);
  }
  while (true) {
    if (!ReadKey() || Byte(at_++) != ':') return false;
    open_.back().value = at_;
    if (!ReadValue(depth)) return false;
    const char separator = Byte(at_++);
    if (separator == '}') return CloseObject(token, first_open);
    if (separator != ',') return false;
  }
}

bool JsonCanonical::ReadKey() {
  const auto raw = Byte(at_) == '"' ? Quoted(at_) : std::nullopt;
  if (!raw) return false;
  ++at_;
  if (raw->find('\\') != std::string_view::npos) return OpenEscapedMember(*raw);
  open_.push_back({.prefix = PrefixOf(*raw, text_.data() + text_.size()),
                   .key = raw->data(),
                   .key_bytes = static_cast<uint32_t>(raw->size()),
                   .value = 0,
                   .source = Source::kText});
  return true;
}

bool JsonCanonical::OpenEscapedMember(std::string_view raw) {
  char* key = unescaped_.Allocate(raw.size() + kBlock, 1);
  char* to = key;
  while (true) {
    const size_t plain = CopyToBackslash(to, raw, text_.data() + text_.size());
    to += plain;
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    const int32_t code = TakeEscape(raw);
    if (code == kBadEscape) return false;
    to = PutUtf8(static_cast<uint32_t>(code), to);
  }
  const std::string_view view(key, to);
  open_.push_back({.prefix = PrefixOf(view, to),
                   .key = key,
                   .key_bytes = static_cast<uint32_t>(view.size()),
                   .value = 0,
                   .source = Source::kUnescaped});
  return true;
}

// Of equal keys keeps the last. Returns the end of what is kept.
JsonCanonical::Members::iterator JsonCanonical::DropDuplicates(Members::iterator begin,
                                                               Members::iterator end) {
  auto kept = begin;
  for (auto member = begin + 1; member != end; ++member) {
    if (Compare(*kept, *member) == 0) {
      dropped_.push_back(kept->value);
    } else {
      ++kept;
    }
    *kept = *member;
  }
  return kept + 1;
}

// Moves the members from `first_open` on to their place in order. Always true.
bool JsonCanonical::CloseObject(uint32_t token, size_t first_open) {
  const auto begin = open_.begin() + static_cast<ptrdiff_t>(first_open);
  SortMembers(begin, open_.end());
  const size_t first = members_.size();
  const auto same = [](const Member& a, const Member& b) { return Compare(a, b) == 0; };
  auto end = open_.end();
  if (std::adjacent_find(begin, end, same) != end) end = DropDuplicates(begin, end);
  members_.insert(members_.end(), begin, end);
  open_.resize(first_open);
  starts_[token + 1] = static_cast<uint32_t>(objects_.size());
  objects_.push_back({.first = first, .members = members_.size() - first, .end = at_});
  return true;
}

// --- fields that are added to the outermost object ----------------------------------------------

// It is closed last: its members are the last ones.
JsonCanonical::Object* JsonCanonical::root_object() {
  return Byte(0) == '{' ? &objects_.back() : nullptr;
}

JsonCanonical::Member* JsonCanonical::FindMember(const Object& object, std::string_view key) {
  const auto begin = members_.begin() + static_cast<ptrdiff_t>(object.first);
  const auto found =
      std::find_if(begin, members_.end(), [&](const Member& m) { return m.key_view() == key; });
  return found == members_.end() ? nullptr : &*found;
}

void JsonCanonical::RemoveMember(Object& root, Member* member) {
  dropped_.push_back(member->value);
  members_.erase(members_.begin() + (member - members_.data()));
  --root.members;
}

void JsonCanonical::AddExtras(Object& root, std::span<const JsonExtraField> fields) {
  extras_ = fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& [key, json] = fields[i];
    members_.push_back({.prefix = PrefixOf(key, key.data() + key.size()),
                        .key = key.data(),
                        .key_bytes = static_cast<uint32_t>(key.size()),
                        .value = static_cast<uint32_t>(i),
                        .source = Source::kExtra});
    room_ += key.size() * kMaxEscapedBytes + json.size() + kValueRoom;
    room_ += 2 * (size_t{style_.indent_levels} + 1);
  }
  root.members += fields.size();
  SortMembers(members_.begin() + static_cast<ptrdiff_t>(root.first), members_.end());
}

// --- the second walk ----------------------------------------------------------------------------

char* JsonCanonical::Write() {
  if (room_ > result_bytes_) {
    result_bytes_ = room_ + room_ / 2;
    result_ = std::make_unique_for_overwrite<char[]>(result_bytes_);
  }
  for (const uint32_t value : dropped_) {
    if (WriteValue(value, style_.indent_levels, result_.get()) == nullptr) return nullptr;
  }
  return WriteValue(0, style_.indent_levels, result_.get());
}

bool JsonCanonical::Flush(const char* end, std::string& out) const {
  if (end == nullptr) return false;
  out.append(result_.get(), static_cast<size_t>(end - result_.get()));
  return true;
}

char* JsonCanonical::WriteValue(uint32_t token, uint32_t level, char* to) {
  switch (Byte(token)) {
    case '{':
      return WriteObject(objects_[starts_[token + 1]], level, to);
    case '[':
      return WriteArray(token, level, to);
    case '"':
      next_ = token + 1;
      return WriteString(token, to);
    default:
      next_ = token + 1;
      return WriteScalar(Scalar(token), to);
  }
}

char* JsonCanonical::WriteArray(uint32_t token, uint32_t level, char* to) {
  *to++ = '[';
  if (Byte(++token) != ']') {
    while (true) {
      to = WriteValue(token, level + 1, BreakLine(level + 1, to));
      if (to == nullptr) return nullptr;
      token = next_;
      if (Byte(token) == ']') break;
      *to++ = ',';
      ++token;
    }
    to = BreakLine(level, to);
  }
  next_ = token + 1;
  *to++ = ']';
  return to;
}

char* JsonCanonical::WriteObject(const Object& object, uint32_t level, char* to) {
  *to++ = '{';
  for (size_t i = 0; i < object.members; ++i) {
    if (i > 0) *to++ = ',';
    to = WriteMember(members_[object.first + i], level + 1, BreakLine(level + 1, to));
    if (to == nullptr) return nullptr;
  }
  if (object.members > 0) to = BreakLine(level, to);
  next_ = object.end;
  *to++ = '}';
  return to;
}

char* JsonCanonical::WriteMember(const Member& member, uint32_t level, char* to) {
  *to++ = '"';
  if (member.source == Source::kText) {
    to = PutShort(to, member.key_view(), text_.data() + text_.size());
  } else {
    for (const char c : member.key_view()) to = PutEscaped(static_cast<uint8_t>(c), to);
  }
  *to++ = '"';
  *to++ = ':';
  if (style_.pretty) *to++ = ' ';
  if (member.source == Source::kExtra) return Put(to, extras_[member.value].json);
  return WriteValue(member.value, level, to);
}

char* JsonCanonical::WriteString(uint32_t token, char* to) const {
  std::optional<std::string_view> raw = Quoted(token);
  if (!raw) return nullptr;
  *to++ = '"';
  while (true) {
    const size_t plain = CopyToBackslash(to, *raw, text_.data() + text_.size());
    to += plain;
    raw->remove_prefix(plain);
    if (raw->empty()) break;
    const int32_t code = TakeEscape(*raw);
    if (code == kBadEscape) return nullptr;
    to = code < 0x80 ? PutEscaped(static_cast<uint8_t>(code), to)
                     : PutUtf8(static_cast<uint32_t>(code), to);
  }
  *to++ = '"';
  return to;
}

char* JsonCanonical::WriteScalar(std::string_view token, char* to) {
  if (token == "true" || token == "false" || token == "null") return Put(to, token);
  return WriteCanonicalNumber(token, to);
}

char* JsonCanonical::BreakLine(uint32_t level, char* to) const {
  if (!style_.pretty) return to;
  *to++ = '\n';
  const size_t blanks = size_t{2} * level;
  if (blanks <= kBlock) {
    std::memset(to, ' ', kBlock);  // one store rather than a call
  } else {
    std::memset(to, ' ', blanks);
  }
  return to + blanks;
}

// White space only stands between a scalar and the next token: anything else would be a token.
std::string_view JsonCanonical::Scalar(uint32_t token) const {
  const char* begin = text_.data() + starts_[token];
  const char* end = text_.data() + starts_[token + 1];
  while (end > begin && IsSpace(end[-1])) --end;
  return {begin, end};
}

std::optional<std::string_view> JsonCanonical::Quoted(uint32_t token) const {
  const std::string_view whole = Scalar(token);
  if (whole.size() < 2 || whole.back() != '"') return std::nullopt;
  return whole.substr(1, whole.size() - 2);
}

}  // namespace debrief
