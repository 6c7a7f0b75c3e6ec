#include "outputs/report/html/timeline/maker.h"

#include <algorithm>
#include <utility>

namespace debrief::outputs::html {

namespace {

constexpr int64_t kLongestTime = int64_t{100} * 366 * 86400 * 1'000'000'000;
constexpr int64_t kYear2000 = int64_t{946'684'800} * 1'000'000'000;
constexpr size_t kLeastTextBytes = 64 * 1024;  // of an island of few slices
constexpr size_t kMostNotes = 50'000;          // that are kept for the next island

bool IsBefore(const Slice& a, const Slice& b) {
  return a.start != b.start ? a.start < b.start : a.duration > b.duration;
}

// The highest point of each of `most` stretches: peaks are what a reader looks for.
void Thin(std::vector<CounterPoint>& points, size_t most) {
  if (points.size() <= most) return;
  std::vector<CounterPoint> peaks(most);
  for (size_t i = 0; i < most; ++i) {
    const auto at = [&](size_t part) {
      return points.begin() + static_cast<ptrdiff_t>(part * points.size() / most);
    };
    peaks[i] = *std::max_element(
        at(i), at(i + 1),
        [](const CounterPoint& a, const CounterPoint& b) { return a.value < b.value; });
  }
  points = std::move(peaks);
}

}  // namespace

size_t TimelineContext::Part(size_t count, size_t all, size_t most) {
  if (all <= most) return count;
  const double part = static_cast<double>(most) / static_cast<double>(all);
  return std::max(size_t{1}, static_cast<size_t>(static_cast<double>(count) * part));
}

size_t TimelineContext::TextBytesOf(size_t count) const {
  const double part = static_cast<double>(count) / static_cast<double>(std::max(slices, size_t{1}));
  return kLeastTextBytes + static_cast<size_t>(part * static_cast<double>(limits.text_bytes));
}

bool CountsFrom1970(int64_t earliest_ns) { return earliest_ns >= kYear2000; }

bool SetTimes(int64_t zero, int64_t start_ns, int64_t duration_ns, Slice& slice) {
  if (start_ns == kNone64 || start_ns < zero) return false;
  const uint64_t start = static_cast<uint64_t>(start_ns) - static_cast<uint64_t>(zero);
  if (start > static_cast<uint64_t>(kLongestTime)) return false;
  slice.start = static_cast<int64_t>(start);
  slice.duration = std::clamp(duration_ns, int64_t{0}, kLongestTime);
  return true;
}

void OpNotes::Begin() {
  if (notes_.size() > kMostNotes) *this = OpNotes();
  for (Note& note : notes_) note.number = 0;
  last_ = 0;
}

void TimelineMaker::Begin(std::string name, size_t slice_count) {
  name_ = std::move(name);
  texts.Begin(context.TextBytesOf(slice_count));
  writer = IslandWriter();
  op_notes.Begin();
  processes_.clear();
  kept.assign(slice_count, false);
}

TimelineProcess& TimelineMaker::AddProcess(const Identity& who, std::string id, std::string what) {
  if (!processes_.empty() && processes_.back().lanes.empty()) processes_.pop_back();
  TimelineProcess& process = processes_.emplace_back();
  process.who = who;
  process.id = std::move(id);
  process.what = std::move(what);
  process.island = name_;
  return process;
}

int64_t TimelineMaker::SetZero(int64_t earliest_ns) {
  const bool own = !CountsFrom1970(earliest_ns);
  processes_.back().own_clock = own;
  return own ? std::max(earliest_ns, int64_t{0}) : context.base;
}

void TimelineMaker::AddLane(std::string id, std::string name, std::string_view kind) {
  const PackedRows rows = PackRows(slices);
  if (rows.order.empty()) return;
  TimelineProcess& process = processes_.back();
  writer.AddLane(process.id + "/" + id, rows, slices);
  int64_t last = 0;
  for (uint32_t at : rows.order) {
    const Slice& slice = slices[at];
    last = std::max(last, slice.end());
    if (slice.number < kept.size()) kept[slice.number] = true;
  }
  Stretch(slices.front().start, last);
  process.lanes.push_back({.id = std::move(id),
                           .name = std::move(name),
                           .kind = kind,
                           .depths = rows.row_sizes.size(),
                           .slices = rows.order.size()});
}

void TimelineMaker::AddUnsortedLane(std::string id, std::string name, std::string_view kind) {
  if (!std::is_sorted(slices.begin(), slices.end(), IsBefore))
    std::stable_sort(slices.begin(), slices.end(), IsBefore);
  const size_t keep = context.SlicesOf(slices.size());
  if (keep < slices.size()) {
    std::vector<int64_t> durations;
    for (const Slice& slice : slices) durations.push_back(slice.duration);
    Longest longest(durations, keep);
    std::erase_if(slices, [&](const Slice& slice) { return !longest.Take(slice.duration); });
  }
  AddLane(std::move(id), std::move(name), kind);
}

void TimelineMaker::AddCounters(std::string id, std::string name,
                                std::vector<CounterSeries> series) {
  for (CounterSeries& one : series) {
    std::stable_sort(one.points.begin(), one.points.end(),
                     [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
    Thin(one.points, context.PointsOf(one.points.size()));
    if (!one.points.empty()) Stretch(one.points.front().time, one.points.back().time);
  }
  std::erase_if(series, [](const CounterSeries& one) { return one.points.empty(); });
  if (series.empty()) return;
  TimelineProcess& process = processes_.back();
  writer.AddCounters(process.id + "/" + id, series);
  process.lanes.push_back({.id = std::move(id), .name = std::move(name), .kind = "counter"});
}

void TimelineMaker::Stretch(int64_t first, int64_t last) {
  TimelineProcess& process = processes_.back();
  process.first = std::min(process.first, first);
  process.last = std::max(process.last, last);
}

std::vector<TimelineProcess> TimelineMaker::TakeProcesses() {
  if (!processes_.empty() && processes_.back().lanes.empty()) processes_.pop_back();
  return std::exchange(processes_, {});
}

std::string TimelineMaker::TakeBytes() { return writer.empty() ? "" : writer.Finish(texts); }

}  // namespace debrief::outputs::html
