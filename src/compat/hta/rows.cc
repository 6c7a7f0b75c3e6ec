#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

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

bool StartsWithAny(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool HasAny(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

bool IsCommunication(std::string_view name) {
  return StartsWithAny(name, {"nccl", "hip", "hccl"}) || HasAny(name, {"ncclKernel"});
}

bool IsMemory(std::string_view name) {
  return StartsWithAny(name, {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"});
}

bool IsLaunch(std::string_view name) {
  return name.starts_with("cuda") && name.find("LaunchKernel", 4) != std::string_view::npos;
}

bool IsNoComputation(std::string_view name) {
  return HasAny(name, {"Memcpy", "Memset", "dma", "Sync"}) || IsLaunch(name) ||
         StartsWithAny(name,
                       {"nccl", "Stream Wait Event", "runFunction", "hip", "job_exe", "packet",
                        "pe_exe", "cpum_exe_subgraph", "hccl", "collective_subgraph_execution"});
}

class Reader {
 public:
  Reader(const TimelineView& view, Names& names)
      : view_(view), names_(names), base_(BaseOf(view)), streams_(view.slices.size(), -1) {
    const auto& works = view.model.tables.Get<TimelineDeviceWorkTable>();
    for (size_t row = view.works.begin; row < view.works.end; ++row) {
      if (works.stream[row] != kNone64)
        streams_[TimelineView::At(works.slice[row])] = works.stream[row];
    }
    Read();
  }

  Rows Filtered() {
    Rows result;
    bool filters = steps_.size() > 1;
    CountHostRows(filters ? last_step_ : std::numeric_limits<int64_t>::max());
    for (const Row& row : gpu_) Take(row, filters, result);
    std::sort(result.rows.begin(), result.rows.end(), [](const Row& a, const Row& b) {
      return std::tuple(a.time.begin, a.slice) < std::tuple(b.time.begin, b.slice);
    });
    return result;
  }

 private:
  struct HostRow {
    int64_t correlation, begin;
    int32_t slice;
  };
  struct HostRows {
    int32_t count = 0;
    int64_t begin = kNone64;
  };

  void Read() {
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      size_t at = TimelineView::At(slice);
      StringId kind = view_.kind[at];
      if (view_.category[at] == StringId::kNone || kind == view_.kinds.span ||
          kind == view_.kinds.async || kind == view_.kinds.instant)
        continue;
      const NameFacts facts = names_(view_.name[at]);
      int64_t correlation = std::max<int64_t>(view_.correlation[at], -1);
      if ((streams_[at] >= 0 && correlation >= 0) || facts.is_sync_row) {
        gpu_.push_back(RowOf(slice, facts));
      } else {
        ReadHostRow(slice, facts, correlation);
      }
    }
  }

  // A row with a stream and without a correlation is taken for one of the host, and still counts
  // as work of the GPU where it is not filtered away.
  void ReadHostRow(int32_t slice, const NameFacts& facts, int64_t correlation) {
    size_t at = TimelineView::At(slice);
    if (!facts.is_step && correlation < 0 && streams_[at] == -1) return;  // most rows
    int64_t begin = WholeMicroseconds(view_.start[at] - base_, 0).begin;
    if (facts.is_step) {
      steps_.insert(view_.name[at]);
      last_step_ = std::max(last_step_, begin);
    }
    if (correlation >= 0) host_.push_back({correlation, begin, slice});
    if (streams_[at] != -1) host_on_stream_.push_back(RowOf(slice, facts));
  }

  Row RowOf(int32_t slice, const NameFacts& facts) const {
    size_t at = TimelineView::At(slice);
    return {.time = WholeMicroseconds(view_.start[at] - base_, view_.duration[at]),
            .stream = streams_[at],
            .slice = slice,
            .type = facts.type,
            .is_work = view_.kinds.IsWork(view_.kind[at])};
  }

  void CountHostRows(int64_t before) {
    host_rows_.reserve(host_.size());
    for (const HostRow& row : host_) {
      if (row.begin >= before) continue;
      HostRows& same = host_rows_[row.correlation];
      ++same.count;
      same.begin = row.begin;
    }
    for (const Row& row : host_on_stream_) {
      if (row.time.begin < before) gpu_.push_back(row);
    }
  }

  // A row that several rows of the host share their correlation with is there several times.
  void Take(Row row, bool filters, Rows& result) const {
    if (row.stream == -1) return;
    auto found = host_rows_.find(view_.correlation[TimelineView::At(row.slice)]);
    bool is_linked = found != host_rows_.end();
    if (is_linked) row.launch = found->second.begin;
    bool needs_link = filters && view_.correlation[TimelineView::At(row.slice)] >= 0;
    if (needs_link && !is_linked) {
      ++result.left_out;
      return;
    }
    int32_t times = needs_link ? found->second.count : 1;
    result.rows.insert(result.rows.end(), static_cast<size_t>(times), row);
    if (row.time.end < row.time.begin) result.negative += times;
  }

  const TimelineView& view_;
  Names& names_;
  int64_t base_;
  std::vector<int64_t> streams_;  // by slice; -1 where not told
  std::vector<Row> gpu_, host_on_stream_;
  std::vector<HostRow> host_;
  std::unordered_map<int64_t, HostRows> host_rows_;  // by correlation
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
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> merged;
  int64_t last_end = std::numeric_limits<int64_t>::min();
  for (const Interval& each : intervals) {
    if (merged.empty() || each.begin > last_end) {
      merged.push_back(each);
    } else {
      merged.back().end = std::max(merged.back().end, each.end);
    }
    last_end = std::max(last_end, each.end);
  }
  return merged;
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
