#include "outputs/report/html/collectives/collectives.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kLongestCommText = 200;

}  // namespace

int64_t Texts::Add(std::string_view text) {
  if (text.empty()) return -1;
  std::string cut(CutText(text, kLongestCommText));
  if (cut.size() < text.size()) cut += "...";
  const auto at = numbers_.find(cut);
  if (at != numbers_.end()) return at->second;
  if (bytes_ + cut.size() > most_bytes_) return -1;
  bytes_ += cut.size() + 3;
  all_.push_back(cut);
  return numbers_[std::move(cut)] = static_cast<int64_t>(all_.size()) - 1;
}

void Texts::Write(JsonWriter& json) const { json.ListField("texts", all_); }

void WriteRuns(JsonWriter& json, std::string_view key, std::span<const int64_t> ranks,
               size_t most) {
  json.Key(key).BeginArray();
  size_t runs = 0;
  for (size_t i = 0; i < ranks.size() && runs < most; ++runs) {
    const int64_t step = i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 1;
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == step) ++end;
    json.BeginArray().Value(ranks[i]).Value(step).Value(end - i).EndArray();
    i = end;
  }
  json.EndArray();
}

}  // namespace debrief::outputs::html
