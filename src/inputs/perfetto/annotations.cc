#include "inputs/perfetto/annotations.h"

#include <charconv>
#include <limits>
#include <vector>

namespace debrief::inputs::perfetto {

namespace {

using Type = Annotation::Type;

}  // namespace

bool AnnotationValues::IsArgs(const Annotation& annotation) const {
  if (annotation.parent != -1 || annotation.type != Type::kDict) return false;
  if (annotation.name.iid == 0) return annotation.name.text == "args";
  const AnnotationName* name = sequence_.AnnotationOf(annotation.name.iid);
  return name != nullptr && name->text == "args";
}

AnnotationValues::Key AnnotationValues::KeyOf(size_t at) const {
  const Annotation& annotation = all_[at];
  if (annotation.parent != -1 && !IsArgs(all_[static_cast<size_t>(annotation.parent)])) return {};
  if (annotation.name.iid == 0) return {annotation.name.text, GroupOf(annotation.name.text)};
  const AnnotationName* name = sequence_.AnnotationOf(annotation.name.iid);
  return name == nullptr ? Key{} : Key{name->text, name->group};
}

void AnnotationValues::Assign(size_t at, int64_t& column) const {
  const Annotation& annotation = all_[at];
  if (annotation.type == Type::kInt) column = annotation.number;
  if (annotation.type == Type::kText) {
    const char* end = annotation.text.data() + annotation.text.size();
    int64_t number = 0;
    const auto [read, error] = std::from_chars(annotation.text.data(), end, number);
    if (error == std::errc() && read == end) column = number;
  }
}

void AnnotationValues::Assign(size_t at, int32_t& column) const {
  int64_t number = kNone64;
  Assign(at, number);
  if (number > std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max())
    column = static_cast<int32_t>(number);
}

void AnnotationValues::Assign(size_t at, uint8_t& column) const {
  if (all_[at].type == Type::kInt) column = all_[at].number != 0 ? 1 : 0;
}

void AnnotationValues::Assign(size_t at, double& column) const {
  if (all_[at].type == Type::kDouble) column = all_[at].real;
  if (all_[at].type == Type::kInt) column = static_cast<double>(all_[at].number);
}

void AnnotationValues::Assign(size_t at, StringId& column) const {
  const Annotation& annotation = all_[at];
  if (annotation.type == Type::kText) column = pools_.Intern(annotation.text);
  if (annotation.type == Type::kInternedText)
    column = sequence_.StringOf(static_cast<uint64_t>(annotation.number));
  if (annotation.type == Type::kInt) column = pools_.Intern(std::to_string(annotation.number));
}

void AnnotationValues::Assign(size_t at, ListId& column) const {
  if (all_[at].type != Type::kArray) return;
  std::vector<int64_t> numbers;
  const auto parent = static_cast<int32_t>(at);
  for (size_t i = at + 1; i < all_.size() && all_[i].parent >= parent; ++i) {
    if (all_[i].parent == parent && all_[i].type == Type::kInt) numbers.push_back(all_[i].number);
  }
  column = pools_.lists.Intern(numbers);
}

int64_t AnnotationValues::NumberOf(std::string_view key) const {
  int64_t number = kNone64;
  for (size_t at = 0; at < all_.size(); ++at) {
    if (KeyOf(at).text == key) Assign(at, number);
  }
  return number;
}

StringId AnnotationValues::TextOf(std::string_view key) const {
  StringId text = StringId::kNone;
  for (size_t at = 0; at < all_.size(); ++at) {
    if (KeyOf(at).text == key) Assign(at, text);
  }
  return text;
}

}  // namespace debrief::inputs::perfetto
