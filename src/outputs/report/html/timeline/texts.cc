#include "base/text/escape.h"
#include "outputs/report/html/timeline/island.h"

namespace debrief::outputs::html {

TimelineTexts::TimelineTexts(const Pools& pools)
    : pools_(pools), number_of_(pools.strings.size(), 0) {}

void TimelineTexts::Begin(size_t most_bytes) {
  for (StringId id : used_) number_of_[static_cast<size_t>(id)] = 0;
  used_.clear();
  made_ = StringPool();
  number_of_made_.clear();
  json_ = "\"\"";
  most_bytes_ = most_bytes;
  count_ = 1;
}

uint32_t TimelineTexts::AddOfPool(StringId id) {
  const uint32_t number = Add(pools_.Text(id));
  if (number == 0) return 0;
  number_of_[static_cast<size_t>(id)] = number;
  used_.push_back(id);
  return number;
}

uint32_t TimelineTexts::Number(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = static_cast<size_t>(made_.Intern(text));
  if (at >= number_of_made_.size()) number_of_made_.resize(at + 1, 0);
  if (number_of_made_[at] == 0) number_of_made_[at] = Add(text);
  return number_of_made_[at];
}

uint32_t TimelineTexts::Add(std::string_view text) {
  const std::string_view cut = CutText(text);
  if (json_.size() + cut.size() > most_bytes_) return 0;
  json_ += ",\"";
  AppendJson(json_, cut);
  if (cut.size() < text.size()) json_ += "...";
  json_ += '"';
  return count_++;
}

}  // namespace debrief::outputs::html
