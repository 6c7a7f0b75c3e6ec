#include "torch/engine_marks.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr uint32_t kPlaceBits = 10;
constexpr int32_t kMostPlaces = (1 << kPlaceBits) - 2;

uint32_t PackNumber(int32_t number) {
  return number < 0 || number > kMostPlaces ? 0 : static_cast<uint32_t>(number) + 1;
}

int32_t UnpackNumber(uint32_t packed, uint32_t position) {
  const uint32_t number = packed >> position & ((1U << kPlaceBits) - 1);
  return number == 0 ? kNone32 : static_cast<int32_t>(number) - 1;
}

// "TP3" into `place`; false when the word is none of these.
bool TakePlace(std::string_view word, EnginePlace& place) {
  const size_t digits = std::min(word.find_first_of("0123456789"), word.size());
  const std::string_view kind = word.substr(0, digits);
  const auto number = ParseNumber<int32_t>(word.substr(digits));
  if (digits == 0 || !number) return false;
  if (kind == "TP") place.tensor = *number;
  if (kind == "PP") place.pipeline = *number;
  if (kind == "DP") place.data = *number;
  constexpr std::string_view kKinds[] = {"TP", "PP", "DP", "EP", "CP", "DCP", "PCP", "MOE_DP"};
  return IsOneOf(kind, kKinds);
}

// "core.py:710"
bool IsLogPlace(std::string_view text) {
  const size_t colon = text.rfind(".py:");
  if (colon == std::string_view::npos || text.find(' ') != std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 4);
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit);
}

int32_t OrZero(int32_t number) { return number == kNone32 ? 0 : number; }

}  // namespace

uint32_t EnginePlace::Pack() const {
  return static_cast<uint32_t>(role) << 3 * kPlaceBits | PackNumber(data) << 2 * kPlaceBits |
         PackNumber(pipeline) << kPlaceBits | PackNumber(tensor);
}

EnginePlace EnginePlace::Unpack(uint32_t packed) {
  return {static_cast<EngineRole>(packed >> 3 * kPlaceBits), UnpackNumber(packed, 2 * kPlaceBits),
          UnpackNumber(packed, kPlaceBits), UnpackNumber(packed, 0)};
}

EnginePlace ParseEngineProcess(std::string_view name) {
  EnginePlace place;
  const size_t end = std::min(name.find('_'), name.size());
  const std::string_view process = name.substr(0, end);
  if (IsOneOf(process, {"APIServer", "ApiServer", "DPCoordinator"}))
    place.role = EngineRole::kFrontEnd;
  if (process == "EngineCore") place.role = EngineRole::kCore;
  if (process == "Worker") place.role = EngineRole::kWorker;
  if (place.role == EngineRole::kNone) return place;
  for (std::string_view rest = name.substr(end); rest.starts_with('_');) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find('_'));
    (void)TakePlace(word, place);
    rest.remove_prefix(word.size());
  }
  return place;
}

std::optional<EngineTag> ParseEngineTag(std::string_view text) {
  constexpr size_t kBegin = 1, kLongest = 80;
  if (!HasShape(text, "[0000-00-00 00:00:00")) return std::nullopt;
  const size_t close = text.substr(0, kLongest).find("] ");
  const size_t date = text.find(' ');
  const size_t end = text.find(' ', date + 1);  // of the time, which may have a fraction
  if (close == std::string_view::npos || end > close) return std::nullopt;
  EngineTag tag{.place = {.role = EngineRole::kWorker},
                .time_ns = ParseIsoTime(text.substr(kBegin)),
                .size = close + 2};
  std::string_view words = text.substr(end, close - end);
  while (words.starts_with(' ')) {
    words.remove_prefix(1);
    const std::string_view word = words.substr(0, words.find(' '));
    if (!TakePlace(word, tag.place)) return std::nullopt;
    words.remove_prefix(word.size());
  }
  return tag;
}

std::optional<EngineHead> ParseEngineHead(std::string_view text) {
  const size_t blank = text.substr(0, 10).find(' ');
  if (blank == std::string_view::npos || text.size() < blank + 2) return std::nullopt;
  if (!IsDigit(text[blank + 1])) return std::nullopt;
  if (!IsOneOf(text.substr(0, blank), {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}))
    return std::nullopt;
  const std::string_view rest = text.substr(blank + 1);
  if (!HasShape(rest, "00-00 00:00:00 ")) return std::nullopt;
  constexpr size_t kLongest = 120, kTime = 15;
  const size_t close = rest.substr(0, kLongest).find(']');
  if (close == std::string_view::npos || close < kTime) return std::nullopt;
  std::string_view place = rest.substr(kTime, close - kTime);
  if (place.starts_with('[')) place.remove_prefix(1);
  if (!IsLogPlace(place)) return std::nullopt;
  // The date without its dash is glog's.
  std::string digits(rest.substr(0, 2));
  digits.append(rest.substr(3, 11)).append(".0");
  const auto time = ParseGlogTime(digits);
  if (!time) return std::nullopt;
  const size_t behind = blank + 1 + close + 1;
  return EngineHead{*time, behind + (text.substr(behind).starts_with(' ') ? 1 : 0)};
}

void WorkerRanks::Add(const EnginePlace& place) {
  if (place.role != EngineRole::kWorker) return;
  places_.push_back(place);
  tensors_ = std::max(tensors_, OrZero(place.tensor) + 1);
  pipelines_ = std::max(pipelines_, OrZero(place.pipeline) + 1);
}

bool WorkerRanks::TensorCountsAll() const {
  std::map<int32_t, int32_t> data_of;
  bool several = false;
  for (const EnginePlace& place : places_) {
    if (place.data == kNone32 || place.tensor == kNone32) return false;
    several |= place.data != places_.front().data;
    if (data_of.try_emplace(place.tensor, place.data).first->second != place.data) return false;
  }
  return several;
}

int32_t WorkerRanks::RankOf(const EnginePlace& place) const {
  const int32_t data = TensorCountsAll() ? 0 : OrZero(place.data);
  return data * WorldOfOne() + OrZero(place.pipeline) * tensors_ + OrZero(place.tensor);
}

int32_t WorkerRanks::RankOfIndex(int32_t data, int32_t index) const {
  return OrZero(data) * WorldOfOne() + index;
}

}  // namespace debrief
