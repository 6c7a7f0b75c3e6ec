#include "inputs/perfetto/annotation_values.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/json/cursor.h"
#include "base/text/escape.h"
#include "base/text/strings.h"
#include "model/trace_events/args.h"

namespace debrief::inputs::perfetto {

namespace {

using Type = Annotation::Type;

// With a point, as it would not be a real number elsewhere.
void AppendReal(double number, std::string& out) {
  if (!std::isfinite(number)) {
    return AppendJsonString(out, std::isnan(number) ? "NaN"
                                 : number < 0       ? "-Infinity"
                                                    : "Infinity");
  }
  const std::string text = fmt::format("{}", number);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

// Walks to the end of a value: what is skipped is not checked.
bool IsWhole(JsonValue value) {
  bool is_whole = true;
  switch (value.kind()) {
    case JsonKind::kNull:
      return true;
    case JsonKind::kBool:
      return value.Bool().has_value();
    case JsonKind::kNumber:
      return value.Double().has_value();
    case JsonKind::kString:
      return value.String().has_value();
    case JsonKind::kObject:
      return value
                 .ForEachField(
                     [&](std::string_view, JsonValue field) { is_whole &= IsWhole(field); })
                 .ok() &&
             is_whole;
    case JsonKind::kArray:
      return value.ForEachElement([&](JsonValue element) { is_whole &= IsWhole(element); }).ok() &&
             is_whole;
    default:
      return false;
  }
}

// Whether the text is one JSON value and nothing else.
bool IsJson(std::string_view text) {
  JsonReader reader;
  size_t values = 0;
  bool is_whole = reader.OpenElements(text).ok();
  if (!is_whole) return false;
  const Status status = reader.root().ForEachElement([&](JsonValue value) {
    ++values;
    is_whole &= IsWhole(value);
  });
  return status.ok() && is_whole && values == 1;
}

}  // namespace

std::string_view AnnotationValues::NameOf(const Annotation& annotation) const {
  if (annotation.name.iid == 0) return annotation.name.text;
  const AnnotationName* name = sequence_.AnnotationOf(annotation.name.iid);
  return name == nullptr ? std::string_view() : name->text;
}

bool AnnotationValues::IsArgs(const Annotation& annotation) const {
  return annotation.parent == -1 && annotation.type == Type::kDict &&
         NameOf(annotation) == timeline::kArgsKey;
}

AnnotationValues::Key AnnotationValues::KeyOf(size_t at) const {
  const Annotation& annotation = all_[at];
  const bool in_args = annotation.parent != -1;
  if (in_args && !IsArgs(all_[static_cast<size_t>(annotation.parent)])) return {};
  if (annotation.name.iid == 0)
    return {annotation.name.text, GroupOf(annotation.name.text), in_args};
  const AnnotationName* name = sequence_.AnnotationOf(annotation.name.iid);
  return name == nullptr ? Key{} : Key{name->text, name->group, in_args};
}

bool AnnotationValues::Assign(size_t at, int64_t& column) const {
  const Annotation& annotation = all_[at];
  if (annotation.IsWhole()) column = annotation.number;
  if (!annotation.IsText()) return annotation.IsWhole();
  const auto number = ParseNumber<int64_t>(annotation.text);
  if (number) column = *number;
  return number.has_value();
}

bool AnnotationValues::Assign(size_t at, int32_t& column) const {
  int64_t number = kNone64;
  const bool fits = Assign(at, number) && number > std::numeric_limits<int32_t>::min() &&
                    number <= std::numeric_limits<int32_t>::max();
  if (fits) column = static_cast<int32_t>(number);
  return fits;
}

bool AnnotationValues::Assign(size_t at, uint8_t& column) const {
  if (all_[at].IsWhole()) column = all_[at].number != 0 ? 1 : 0;
  return all_[at].IsWhole();
}

bool AnnotationValues::Assign(size_t at, double& column) const {
  if (all_[at].type == Type::kDouble) column = all_[at].real;
  if (all_[at].IsWhole()) column = static_cast<double>(all_[at].number);
  return all_[at].type == Type::kDouble || all_[at].IsWhole();
}

bool AnnotationValues::Assign(size_t at, StringId& column) const {
  const Annotation& annotation = all_[at];
  if (annotation.IsText()) {
    column = pools_.Intern(annotation.text);
  } else if (annotation.type == Type::kInternedText) {
    column = sequence_.StringOf(static_cast<uint64_t>(annotation.number));
  } else if (annotation.IsWhole()) {
    column = pools_.Intern(std::to_string(annotation.number));
  } else {
    return false;
  }
  return true;
}

bool AnnotationValues::Assign(size_t at, ListId& column) const {
  if (all_[at].type != Type::kArray) return false;
  std::vector<int64_t> numbers;
  const auto parent = static_cast<int32_t>(at);
  for (size_t i = at + 1; i < all_.size() && all_[i].parent >= parent; ++i) {
    if (all_[i].parent == parent && all_[i].IsWhole()) numbers.push_back(all_[i].number);
  }
  column = pools_.lists.Intern(numbers);
  return true;
}

int64_t AnnotationValues::ProductOf(size_t at) const {
  std::string json;
  if (all_[at].type == Type::kArray) AppendJsonOf(at, json);
  return trace_events::ProductOf(json);
}

void AnnotationValues::AppendEntries(size_t at, std::string& out) const {
  const bool is_dict = all_[at].type == Type::kDict;
  const auto parent = static_cast<int32_t>(at);
  bool is_first = true;
  for (size_t i = at + 1; i < all_.size() && all_[i].parent >= parent; ++i) {
    // An empty list is told by one element without a value.
    if (all_[i].parent != parent || (!is_dict && all_[i].type == Type::kNone)) continue;
    if (!std::exchange(is_first, false)) out += ", ";
    if (is_dict) AppendJsonString(out, NameOf(all_[i]));
    if (is_dict) out += ": ";
    AppendJsonOf(i, out);
  }
}

void AnnotationValues::AppendJsonOf(size_t at, std::string& out) const {
  const Annotation& own = all_[at];
  switch (own.type) {
    case Type::kNone:
      out += "null";
      return;
    case Type::kBool:
      out += own.number != 0 ? "true" : "false";
      return;
    case Type::kInt:
      out += std::to_string(own.number);
      return;
    case Type::kUnsigned:
      out += std::to_string(static_cast<uint64_t>(own.number));
      return;
    case Type::kDouble:
      return AppendReal(own.real, out);
    case Type::kText:
      return AppendJsonString(out, own.text);
    case Type::kJson:
      if (!IsJson(own.text)) return AppendJsonString(out, own.text);
      out += own.text;
      return;
    case Type::kInternedText:
      return AppendJsonString(out,
                              pools_.Text(sequence_.StringOf(static_cast<uint64_t>(own.number))));
    case Type::kDict:
    case Type::kArray:
      out += own.type == Type::kDict ? '{' : '[';
      AppendEntries(at, out);
      out += own.type == Type::kDict ? '}' : ']';
      return;
  }
}

int64_t AnnotationValues::NumberOf(std::string_view key) const {
  int64_t number = kNone64;
  for (size_t at = 0; at < all_.size(); ++at) {
    if (KeyOf(at).text == key) (void)Assign(at, number);
  }
  return number;
}

StringId AnnotationValues::TextOf(std::string_view key) const {
  StringId text = StringId::kNone;
  for (size_t at = 0; at < all_.size(); ++at) {
    if (KeyOf(at).text == key) (void)Assign(at, text);
  }
  return text;
}

}  // namespace debrief::inputs::perfetto
