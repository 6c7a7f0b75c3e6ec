#include "inputs/torch_trace/fields.h"

#include <charconv>
#include <vector>

namespace debrief::inputs::torch_trace {

namespace {

Status Wrong(std::string what) { return Status(Code::kInvalid, std::move(what)); }

// A whole number as JSON writes it: 3.0 and "3" are none.
template <typename Number>
Result<int64_t> WholeNumber(JsonValue value) {
  auto raw = value.kind() == JsonKind::kNumber ? value.Raw() : std::nullopt;
  Number number = 0;
  if (!raw) return Wrong("is no number");
  auto [end, error] = std::from_chars(raw->data(), raw->data() + raw->size(), number);
  if (error != std::errc() || end != raw->data() + raw->size())
    return Wrong("is no whole number of its range");
  return static_cast<int64_t>(number);
}

Result<FieldValue> Number(Result<int64_t> number) {
  if (!number.ok()) return number.status();
  return FieldValue{number.value()};
}

// The elements that are strings, joined by line ends.
Result<std::string> JoinTexts(JsonValue value) {
  std::string joined;
  bool first = true;
  TRY(value.ForEachElement([&](JsonValue element) -> Status {
    auto text = element.String();
    if (!text) return Wrong("has an element that is no string");
    if (!first) joined += '\n';
    first = false;
    joined += *text;
    return {};
  }));
  return joined;
}

Result<std::string> JoinMap(JsonValue value) {
  std::string joined;
  TRY(value.ForEachField([&](std::string_view key, JsonValue element) -> Status {
    auto text = element.IsNull() ? std::optional<std::string_view>("null") : element.String();
    if (!text) return Wrong("has a value that is no string");
    if (!joined.empty()) joined += '\n';
    joined.append(key).append(": ").append(*text);
    return {};
  }));
  return joined;
}

Result<std::string> SizesText(JsonValue value) {
  std::string text = "[";
  TRY(value.ForEachElement([&](JsonValue element) -> Status {
    if (text.size() > 1) text += ", ";
    if (element.kind() == JsonKind::kString) {
      text += element.String().value_or("");
      return {};
    }
    ASSIGN_OR_RETURN(int64_t number, WholeNumber<int64_t>(element));
    text += std::to_string(number);
    return {};
  }));
  return text + "]";
}

Result<FieldValue> Numbers(JsonValue value, Entry& entry) {
  std::vector<int64_t> numbers;
  TRY(value.ForEachElement([&](JsonValue element) -> Status {
    ASSIGN_OR_RETURN(int64_t number, WholeNumber<uint64_t>(element));
    numbers.push_back(number);
    return {};
  }));
  return FieldValue{entry.InternList(numbers)};
}

Result<FieldValue> Text(Result<std::string> text, Entry& entry) {
  if (!text.ok()) return text.status();
  return FieldValue{entry.Intern(text.value())};
}

Result<FieldValue> Stack(JsonValue value, StackColumn column, Entry& entry) {
  TRY(entry.AddStack(value, column));
  return FieldValue{};
}

Result<FieldValue> AnyText(JsonValue value, Entry& entry) {
  auto text = value.kind() == JsonKind::kString ? value.String() : value.Raw();
  if (!text) return Wrong("is broken");
  return FieldValue{entry.Intern(*text)};
}

}  // namespace

Status MissingField(std::string_view key) {
  return Status(Code::kInvalid, "missing field `" + std::string(key) + "`");
}

Status WrongField(std::string_view key, std::string_view what) {
  return Status(Code::kInvalid, "field `" + std::string(key) + "` " + std::string(what));
}

Result<FieldValue> ReadFieldValue(JsonValue value, FieldType type, Entry& entry) {
  switch (type) {
    case FieldType::kUint32:
      return Number(WholeNumber<uint32_t>(value));
    case FieldType::kUint64:
      return Number(WholeNumber<uint64_t>(value));
    case FieldType::kInt32:
      return Number(WholeNumber<int32_t>(value));
    case FieldType::kTexts:
      return Text(JoinTexts(value), entry);
    case FieldType::kTextMap:
      return Text(JoinMap(value), entry);
    case FieldType::kSizes:
      return Text(SizesText(value), entry);
    case FieldType::kNumbers:
      return Numbers(value, entry);
    case FieldType::kStack:
      return Stack(value, StackColumn::kStack, entry);
    case FieldType::kUserStack:
      return Stack(value, StackColumn::kUserStack, entry);
    case FieldType::kAnyText:
      return AnyText(value, entry);
    case FieldType::kDouble:
      if (auto number = value.Double()) return FieldValue{*number};
      return Wrong("is no number");
    case FieldType::kBool:
      if (auto flag = value.Bool()) return FieldValue{*flag};
      return Wrong("is neither true nor false");
    case FieldType::kText:
      if (value.kind() != JsonKind::kString) return Wrong("is no string");
      if (auto text = value.String()) return FieldValue{entry.Intern(*text)};
      return Wrong("is a broken string");
  }
  return Wrong("has no type");
}

}  // namespace debrief::inputs::torch_trace
