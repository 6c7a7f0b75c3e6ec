#include "model/trace_events/rest_args.h"

#include <algorithm>

#include "base/text/escape.h"

namespace debrief::trace_events {

void BetterTold::Note(std::string_view key) {
  grid |= key == "grid";
  block |= key == "block";
  source_rank |= key == "Src Rank";
}

bool BetterTold::Covers(std::string_view column_key) const {
  return (grid && column_key == "blocks") || (block && column_key == "threads") ||
         (source_rank && column_key == "Dst Rank");
}

std::string_view SpelledAsColumn(std::string_view key) {
  if (key == "External Id" || key == "external id") return "External id";
  return key == "Input dims" ? std::string_view("Input Dims") : key;
}

void AppendRest(std::string_view key, std::string_view json, std::string& object) {
  while (!json.empty() && json.back() <= ' ') json.remove_suffix(1);
  object += object.empty() ? "{" : ", ";
  AppendJsonString(object, key);
  object += ": ";
  const bool is_json = !json.empty() && json != "NaN" && !json.ends_with("Infinity");
  if (is_json) {
    object += json;
  } else {
    AppendJsonString(object, json);
  }
}

std::string_view RestArgs::Collect(std::span<const std::string_view> objects,
                                   std::span<const std::string_view> told) {
  text_.clear();
  for (const std::string_view object : objects) {
    ForEach(object, [&](std::string_view key, JsonValue value) {
      if (std::ranges::find(told, SpelledAsColumn(key)) != told.end()) return;
      AppendRest(key, value.Raw().value_or("null"), text_);
    });
  }
  if (!text_.empty()) text_ += '}';
  return text_;
}

BetterTold RestArgs::BetterToldIn(std::string_view object) {
  BetterTold better;
  ForEach(object, [&](std::string_view key, JsonValue) { better.Note(key); });
  return better;
}

}  // namespace debrief::trace_events
