#include "inputs/torch_trace/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr size_t kMaxDepth = 127;  // deeper JSON is refused, as in tlparse

std::string NumberText(int64_t number) {
  return number == kNone64 ? "-" : fmt::format("{}", number);
}

}  // namespace

std::string LoggedId::Text() const {
  if (broken) return "";
  std::string text = autograd == kNone64 ? "" : fmt::format("!{}/", autograd);
  text += NumberText(frame) + "/" + NumberText(frame_compile);
  if (attempt != kNone64 && attempt != 0) text += fmt::format("_{}", attempt);
  return text;
}

void EnvelopeParser::Fail(std::string trouble) {
  if (envelope_.state != Envelope::State::kOk) return;
  envelope_.state = Envelope::State::kWrongField;
  envelope_.trouble = std::move(trouble);
}

bool EnvelopeParser::TakeNumber(std::string_view key, Value value, int64_t& to) {
  uint64_t number = 0;
  bool fits = value.is_uint64() && value.get(number) == simdjson::SUCCESS &&
              number <= std::numeric_limits<uint32_t>::max();
  bool twice = fits && to != kNone64;
  if (fits && !twice) to = static_cast<int64_t>(number);
  if (twice) Fail(fmt::format("duplicate field `{}`", key));
  return fits;
}

// A wrong type does not refuse the entry; it loses its compilation.
void EnvelopeParser::TakeId(Value value, std::string_view key, int64_t& to) {
  if (value.is_null() || TakeNumber(key, value, to)) return;
  envelope_.id.broken = true;
}

void EnvelopeParser::TakeString(Value value) {
  simdjson::dom::array pair;
  std::string_view text;
  uint64_t index = 0;
  bool fits = value.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
              pair.at(0).get(text) == simdjson::SUCCESS && pair.at(1).is_uint64() &&
              pair.at(1).get(index) == simdjson::SUCCESS &&
              index <= std::numeric_limits<uint32_t>::max();
  if (!fits) return Fail("field `str` is no [text, number]");
  if (envelope_.string) return Fail("duplicate field `str`");
  envelope_.string = {text, static_cast<uint32_t>(index)};
}

void EnvelopeParser::TakeKind(std::string_view key, Value value) {
  const Kind* kind = FindKind(key);
  if (kind == nullptr) {
    auto& unknown = envelope_.unknown;
    if (std::find(unknown.begin(), unknown.end(), key) == unknown.end()) unknown.push_back(key);
    return;
  }
  if (value.is_null()) return;
  if (!value.is_object()) return Fail(fmt::format("field `{}` is no object", key));
  auto& kinds = envelope_.kinds;
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
    return Fail(fmt::format("duplicate field `{}`", key));
  kinds.push_back(kind);
}

void EnvelopeParser::Take(std::string_view key, Value value) {
  if (key == "frame_id") return TakeId(value, key, envelope_.id.frame);
  if (key == "frame_compile_id") return TakeId(value, key, envelope_.id.frame_compile);
  if (key == "attempt") return TakeId(value, key, envelope_.id.attempt);
  if (key == "compiled_autograd_id") return TakeId(value, key, envelope_.id.autograd);
  if (key == "rank") {
    if (!value.is_null() && !TakeNumber(key, value, envelope_.rank))
      Fail("field `rank` is no rank");
    if (envelope_.rank > std::numeric_limits<int32_t>::max())
      envelope_.rank = kNone64;  // no job has it
  } else if (key == "has_payload") {
    std::string_view md5;
    if (value.is_null()) return;
    if (value.get(md5) != simdjson::SUCCESS) return Fail("field `has_payload` is no string");
    if (envelope_.payload_md5) return Fail("duplicate field `has_payload`");
    envelope_.payload_md5 = md5;
  } else if (key == "stack") {
    envelope_.has_stack = envelope_.has_stack || !value.is_null();
  } else if (key == "str") {
    if (!value.is_null()) TakeString(value);
  } else {
    TakeKind(key, value);
  }
}

const Envelope& EnvelopeParser::Parse(std::string_view json) {
  envelope_ = Envelope();
  auto error = simdjson::SUCCESS;
  if (parser_.max_depth() != kMaxDepth) error = parser_.allocate(json.size(), kMaxDepth);
  simdjson::dom::element root;
  simdjson::dom::object object;
  // The text is not copied: its padding is the caller's promise.
  if (error == simdjson::SUCCESS) error = parser_.parse(json.data(), json.size(), false).get(root);
  if (error == simdjson::SUCCESS) error = root.get(object);
  if (error != simdjson::SUCCESS) {
    envelope_.state = Envelope::State::kNotJson;
    envelope_.trouble = simdjson::error_message(error);
    return envelope_;
  }
  for (auto [key, value] : object) Take(key, value);
  std::stable_sort(envelope_.kinds.begin(), envelope_.kinds.end(),
                   [](const Kind* a, const Kind* b) { return a->order < b->order; });
  return envelope_;
}

}  // namespace debrief::inputs::torch_trace
