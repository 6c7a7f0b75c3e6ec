#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_set>

#include "base/text/strings.h"
#include "compat/hta/tables.h"
#include "model/timeline/kinds.h"
#include "tables/timeline.h"

namespace debrief::hta {

namespace {

// HTA reads microseconds as binary fractions and rounds those. Times since 1970 then have steps of
// a quarter of a microsecond, which moves some of them over the next whole one. The wider type
// keeps all digits that the file had until the one rounding that reading it does.
double MicrosecondsAsRead(int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

bool IsCommunication(std::string_view name) {
  return StartsWithAny(name, {"nccl", "hip", "hccl"}) || Contains(name, "ncclKernel");
}

bool IsMemory(std::string_view name) {
  return StartsWithAny(name, {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"});
}

bool IsLaunch(std::string_view name) {
  return name.starts_with("cuda") && name.find("LaunchKernel", 4) != std::string_view::npos;
}

bool IsNoComputation(std::string_view name) {
  return ContainsAny(name, {"Memcpy", "Memset", "dma", "Sync"}) || IsLaunch(name) ||
         StartsWithAny(name,
                       {"nccl", "Stream Wait Event", "runFunction", "hip", "job_exe", "packet",
                        "pe_exe", "cpum_exe_subgraph", "hccl", "collective_subgraph_execution"});
}

// Correlations of GPU rows: most rows of the host have another one, and need not be kept.
// Correlations are numbers in a row; where they are not, any may be there.
class Correlations {
 public:
  void Add(int64_t correlation) {
    if (correlation < 0 || correlation >= kMostBits) return;
    const auto at = static_cast<size_t>(correlation);
    if (at >= has_.size()) has_.resize(at * 5 / 4 + 1);
    has_[at] = true;
  }
  bool MayHave(int64_t correlation) const {
    if (correlation < 0) return false;
    const auto at = static_cast<size_t>(correlation);
    return correlation >= kMostBits || (at < has_.size() && has_[at]);
  }

 private:
  static constexpr int64_t kMostBits = int64_t{1} << 28;
  std::vector<bool> has_;
};

class Reader {
 public:
  Reader(const TimelineView& view, Names& names) : view_(view), names_(names), base_(BaseOf(view)) {
    gpu_.reserve(view.works.size());
    ForEachRow([&](int32_t slice, const NameFacts& facts, int64_t stream, int64_t correlation) {
      if (!IsOfGpu(facts, stream, correlation)) return;
      gpu_.push_back(RowOf(slice, facts, stream));
      sought_.Add(correlation);
    });
    ForEachRow([&](int32_t slice, const NameFacts& facts, int64_t stream, int64_t correlation) {
      if (!IsOfGpu(facts, stream, correlation)) ReadHostRow(slice, facts, stream, correlation);
    });
  }

  Rows Filtered() {
    Rows result;
    const bool filters = steps_.size() > 1;
    SortHostRows(filters ? last_step_ : std::numeric_limits<int64_t>::max());
    if (filters) {
      result.rows.reserve(gpu_.size());
      for (const Row& row : gpu_) Take(row, result);
    } else {
      TakeAll(result);
    }
    std::sort(result.rows.begin(), result.rows.end(), [](const Row& a, const Row& b) {
      return std::tuple(a.time.begin, a.slice) < std::tuple(b.time.begin, b.slice);
    });
    return result;
  }

 private:
  struct HostRow {
    int64_t correlation, begin;
  };
  using HostRows = std::span<const HostRow>;

  // Calls `visit` with the slice, what its name tells, its stream (-1 where not told) and its
  // correlation (-1 where it has none). Details of slices are in the order of slices.
  template <typename Visit>
  void ForEachRow(const Visit& visit) {
    const auto& works = view_.model.tables.Get<TimelineDeviceWorkTable>();
    size_t work = view_.works.begin;
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      int64_t stream = -1;
      while (work < view_.works.end && works.slice[work] < slice) ++work;
      if (work < view_.works.end && works.slice[work] == slice && works.stream[work] != kNone64)
        stream = works.stream[work];
      const size_t at = TimelineView::At(slice);
      const StringId kind = view_.kind[at];
      if (view_.category[at] == StringId::kNone || kind == view_.kinds.span ||
          kind == view_.kinds.async || kind == view_.kinds.instant)
        continue;
      visit(slice, names_(view_.name[at]), stream, std::max<int64_t>(view_.correlation[at], -1));
    }
  }

  static bool IsOfGpu(const NameFacts& facts, int64_t stream, int64_t correlation) {
    return (stream >= 0 && correlation >= 0) || facts.is_sync_row;
  }

  // A row with a stream and without a correlation is taken for one of the host, and still counts
  // as work of the GPU where it is not filtered away.
  void ReadHostRow(int32_t slice, const NameFacts& facts, int64_t stream, int64_t correlation) {
    const bool is_sought = sought_.MayHave(correlation) || stream != -1;
    if (!facts.is_step && !is_sought) return;  // most rows
    const size_t at = TimelineView::At(slice);
    const int64_t begin = WholeMicroseconds(view_.start[at] - base_, 0).begin;
    if (facts.is_step) {
      steps_.insert(view_.name[at]);
      last_step_ = std::max(last_step_, begin);
    }
    if (correlation >= 0) host_.push_back({correlation, begin});
    if (stream != -1) host_on_stream_.push_back(RowOf(slice, facts, stream));
  }

  Row RowOf(int32_t slice, const NameFacts& facts, int64_t stream) const {
    const size_t at = TimelineView::At(slice);
    return {.time = WholeMicroseconds(view_.start[at] - base_, view_.duration[at]),
            .stream = stream,
            .slice = slice,
            .type = facts.type,
            .is_work = view_.kinds.IsWork(view_.kind[at])};
  }

  // Those that begin before the last step, those of a correlation together.
  void SortHostRows(int64_t before) {
    std::erase_if(host_, [&](const HostRow& row) { return row.begin >= before; });
    std::stable_sort(host_.begin(), host_.end(), [](const HostRow& a, const HostRow& b) {
      return a.correlation < b.correlation;
    });
    for (const Row& row : host_on_stream_) {
      if (row.time.begin < before) gpu_.push_back(row);
    }
  }

  HostRows HostRowsOf(const Row& row) const {
    const int64_t correlation = view_.correlation[TimelineView::At(row.slice)];
    const auto found = std::ranges::equal_range(host_, correlation, {}, &HostRow::correlation);
    return {found.begin(), found.end()};
  }

  // A row that several rows of the host share their correlation with is there several times.
  void Take(Row row, Rows& result) const {
    if (row.stream == -1) return;
    const HostRows host = HostRowsOf(row);
    if (!host.empty()) row.launch = host.back().begin;
    const bool needs_link = view_.correlation[TimelineView::At(row.slice)] >= 0;
    if (needs_link && host.empty()) {
      ++result.left_out;
      return;
    }
    const size_t times = needs_link ? host.size() : 1;
    result.rows.insert(result.rows.end(), times, row);
    if (row.time.end < row.time.begin) result.negative += static_cast<int64_t>(times);
  }

  // Without a filter: each once, and in the memory where they lie.
  void TakeAll(Rows& result) {
    std::erase_if(gpu_, [](const Row& row) { return row.stream == -1; });
    for (Row& row : gpu_) {
      const HostRows host = HostRowsOf(row);
      if (!host.empty()) row.launch = host.back().begin;
      if (row.time.end < row.time.begin) ++result.negative;
    }
    result.rows = std::move(gpu_);
  }

  const TimelineView& view_;
  Names& names_;
  int64_t base_;
  std::vector<Row> gpu_, host_on_stream_;
  Correlations sought_;
  std::vector<HostRow> host_;
  std::unordered_set<StringId> steps_;
  int64_t last_step_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

Interval WholeMicroseconds(int64_t start_ns, int64_t duration_ns) {
  double begin = MicrosecondsAsRead(start_ns);
  double end = begin + MicrosecondsAsRead(duration_ns);
  return {static_cast<int64_t>(std::ceil(begin)), static_cast<int64_t>(std::floor(end))};
}

Type TypeOf(std::string_view name) {
  if (IsCommunication(name)) return Type::kCommunication;
  if (IsMemory(name)) return Type::kMemory;
  return IsNoComputation(name) ? Type::kOther : Type::kComputation;
}

NameFacts FactsOf(std::string_view name) {
  return {.type = TypeOf(name),
          .is_step = name.starts_with("ProfilerStep"),
          .is_sync_row = name == "Event Sync" || name == "Context Sync"};
}

int64_t BaseOf(const TimelineView& view) {
  const int64_t base = view.model.tables.Get<TimelineTable>().base_ns[view.row];
  return base == kNone64 ? 0 : base;
}

Rows RowsOf(const TimelineView& view, Names& names) { return Reader(view, names).Filtered(); }

std::vector<Interval> Merge(std::vector<Interval> intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  if (!std::ranges::is_sorted(intervals, earlier))
    std::stable_sort(intervals.begin(), intervals.end(), earlier);
  size_t merged = 0;  // groups lie at the front of what they are made of
  int64_t last_end = std::numeric_limits<int64_t>::min();
  for (const Interval each : intervals) {
    if (merged == 0 || each.begin > last_end) {
      intervals[merged++] = each;
    } else {
      intervals[merged - 1].end = std::max(intervals[merged - 1].end, each.end);
    }
    last_end = std::max(last_end, each.end);
  }
  intervals.resize(merged);
  return intervals;
}

std::vector<Interval> Merged(const Rows& rows, Type type) {
  std::vector<Interval> intervals;
  for (const Row& row : rows.rows) {
    if (row.type == type) intervals.push_back(row.time);
  }
  return Merge(std::move(intervals));
}

double RoundedAsPandas(double value, int digits) {
  double scale = std::pow(10, digits);
  return std::nearbyint(value * scale) / scale;
}

}  // namespace debrief::hta
