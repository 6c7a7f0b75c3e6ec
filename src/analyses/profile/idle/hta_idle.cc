#include "analyses/profile/idle/hta_idle.h"

#include <algorithm>
#include <array>
#include <map>

#include "tables/profile_idle.h"

namespace debrief::analyses::profile_idle {

namespace {

using timeline::HtaRow;

enum Category : size_t { kHostWait, kKernelWait, kOther, kCategories };
constexpr std::array<std::string_view, kCategories> kNames = {"host_wait", "kernel_wait", "other"};

// HTA's default. Its documentation says nanoseconds; what it compares are microseconds.
constexpr int64_t kConsecutiveKernelDelay = 30;
constexpr int64_t kMicrosecond = 1000;

struct Sums {
  int64_t gaps = 0, time = 0, longest = 0;
};

struct Stream {
  std::array<Sums, kCategories> sums;
  int64_t rows = 0;
  int64_t last_end = 0;
};

Category CategoryOf(const HtaRow& row, int64_t last_end) {
  if (row.launch != kNone64 && row.launch > last_end) return kHostWait;
  return row.time.begin - last_end < kConsecutiveKernelDelay ? kKernelWait : kOther;
}

// The first row of a stream has no gap before it and still makes a row of `other`.
void Take(const HtaRow& row, Stream& stream) {
  if (stream.rows++ > 0) {
    int64_t gap = row.time.begin - stream.last_end;
    Sums& sums = stream.sums[CategoryOf(row, stream.last_end)];
    ++sums.gaps;
    sums.time += gap;
    sums.longest = std::max(sums.longest, gap);
  }
  stream.last_end = row.time.end;
}

void AddStream(const timeline::TimelineView& view, int64_t number, const Stream& stream,
               Part& part) {
  int64_t all = 0;
  for (const Sums& sums : stream.sums) all += sums.time;
  for (size_t category = 0; category < kCategories; ++category) {
    const Sums& sums = stream.sums[category];
    if (sums.gaps == 0 && category != kOther) continue;
    auto row = Part::RowOf<ProfileIdleRow>(view.who);
    row.input = view.who.input;
    row.definition = part.pools.Intern("hta");
    row.stream = number;
    row.category = part.pools.Intern(kNames[category]);
    row.idle_ns = sums.time * kMicrosecond;
    row.gaps = sums.gaps;
    row.longest_ns = sums.longest * kMicrosecond;
    if (all != 0)
      row.ratio =
          timeline::RoundedAsPandas(static_cast<double>(sums.time) / static_cast<double>(all), 2);
    part.tables.Edit<ProfileIdleTable>().Add(row);
  }
}

}  // namespace

void AddHtaIdle(const timeline::TimelineView& view, const timeline::HtaRows& rows, Part& part) {
  std::map<int64_t, Stream> streams;
  for (const HtaRow& row : rows.rows) {
    if (row.is_work) Take(row, streams[row.stream]);
  }
  for (const auto& [number, stream] : streams) AddStream(view, number, stream, part);
}

}  // namespace debrief::analyses::profile_idle
