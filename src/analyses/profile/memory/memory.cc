// How much memory did each device need, when was it most, and which ops and modules held it?
//
// From the profiler's own [memory] events (profile_memory=True): each tells an address, how many
// bytes came or went, and the totals of the allocator after it. Cost: a sort of the events, a walk
// up the slices around each, two passes over them; the slices are walked once.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/memory/events.h"
#include "model/memory/amounts.h"
#include "model/memory/fit.h"
#include "model/timeline/view.h"
#include "tables/memory_fit.h"
#include "tables/profile_memory_category.h"
#include "tables/profile_memory_curve.h"
#include "tables/profile_memory_holder.h"
#include "tables/profile_memory_op.h"
#include "tables/profile_memory_peak.h"
#include "tables/timeline_device.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::profile_memory {

namespace {

using memory::Plus;
using memory::SizeText;
using timeline::TimelineView;

constexpr std::string_view kModulePrefix = "nn.Module: ";

// Rows of table timeline_memory, by time.
std::vector<size_t> RowsByTime(const TimelineView& view, const TimelineMemoryTable& table) {
  std::vector<size_t> rows(view.memory.size());
  std::iota(rows.begin(), rows.end(), view.memory.begin);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return table.time_ns[a] < table.time_ns[b]; });
  return rows;
}

// The innermost slice of a thread at a time. Times come in order, so that each track is walked
// once.
class AroundFinder {
 public:
  explicit AroundFinder(const TimelineView& view)
      : view_(view),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        last_(view.tracks.size(), 0) {}

  int32_t At(int32_t track, int64_t time) {
    if (track < 0 || TimelineView::At(track) >= last_.size()) return kNone32;
    const size_t row = view_.tracks.begin + TimelineView::At(track);
    const int32_t first = tracks_.first_slice[row];
    int32_t& begun = last_[TimelineView::At(track)];  // slices of the track that began by then
    while (begun < tracks_.slices[row] && view_.start[TimelineView::At(first + begun)] <= time)
      ++begun;
    if (begun == 0) return kNone32;
    int32_t slice = first + begun - 1;
    while (slice != kNone32 && view_.end(slice) < time)
      slice = view_.parent[TimelineView::At(slice)];
    return slice;
  }

 private:
  const TimelineView& view_;
  const TimelineTrackTable& tracks_;
  std::vector<int32_t> last_;
};

// What a slice says about what happens inside of it.
struct AroundKind {
  bool is_module = false;
  Phase phase = Phase::kForward;
};

AroundKind AroundKindOf(std::string_view name) {
  AroundKind kind{.is_module = name.starts_with(kModulePrefix)};
  if (name.starts_with("autograd::engine::evaluate_function")) kind.phase = Phase::kBackward;
  if (name.starts_with("Optimizer.step")) kind.phase = Phase::kOptimiser;
  return kind;
}

void SetContext(const TimelineView& view, int32_t around, timeline::OfName<AroundKind>& kinds,
                MemoryEvent& event) {
  for (; around != kNone32; around = view.parent[TimelineView::At(around)]) {
    const auto at = TimelineView::At(around);
    const AroundKind kind = kinds(view.name[at]);
    if (view.kind[at] == view.kinds.op) {
      if (event.op == kNone32) event.op = around;
      event.outer_end = view.end(around);
    }
    if (event.module == kNone32 && kind.is_module) event.module = around;
    if (event.phase == Phase::kForward) event.phase = kind.phase;
  }
}

// Where events tell no totals: sums from the beginning of the recording on.
void SumUp(DeviceEvents& device) {
  int64_t sum = 0;
  for (MemoryEvent& event : device.events) {
    sum = Plus(sum, event.bytes);
    event.allocated = sum;
  }
}

// By type and number of the device, in order of time. Events that do not tell how many bytes are
// left out. Cost: a sort of the events and, for each, a walk up the slices around it.
std::vector<DeviceEvents> MemoryEventsOf(const TimelineView& view) {
  const auto& table = view.model.tables.Get<TimelineMemoryTable>();
  AroundFinder around(view);
  timeline::OfName<AroundKind> kinds(view.model.pools, AroundKindOf);
  std::map<std::pair<int32_t, int32_t>, DeviceEvents> devices;
  for (size_t row : RowsByTime(view, table)) {
    if (table.bytes[row] == kNone64) continue;
    DeviceEvents& device = devices[{table.device_type[row], table.device[row]}];
    MemoryEvent event{.time = table.time_ns[row],
                      .bytes = table.bytes[row],
                      .address = table.address[row],
                      .allocated = table.allocated_bytes[row],
                      .reserved = table.reserved_bytes[row]};
    SetContext(view, around.At(table.track[row], event.time), kinds, event);
    if (event.allocated == kNone64) device.totals_known = false;
    device.events.push_back(event);
  }
  std::vector<DeviceEvents> all;
  for (auto& [key, device] : devices) {
    std::tie(device.device_type, device.device) = key;
    if (!device.totals_known) SumUp(device);
    all.push_back(std::move(device));
  }
  return all;
}

// What was alive at a moment, by the op and the module that had allocated it.
struct Holder {
  StringId op = StringId::kNone;
  StringId module = StringId::kNone;
  int64_t allocations = 0;
  int64_t bytes = 0;
};

// After the last of `events`, which begin with the recording: largest first. An address that is
// allocated again without a free was freed unseen.
std::vector<Holder> AliveAfter(const TimelineView& view, std::span<const MemoryEvent> events) {
  std::unordered_map<int64_t, size_t> alive;  // by address: its allocation
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].address == kNone64) continue;
    if (events[i].bytes > 0) alive[events[i].address] = i;
    if (events[i].bytes < 0) alive.erase(events[i].address);
  }
  std::map<std::pair<StringId, StringId>, Holder> sums;
  for (const auto& [address, i] : alive) {
    auto name = [&](int32_t slice) {
      return slice == kNone32 ? StringId::kNone : view.name[TimelineView::At(slice)];
    };
    const StringId op = name(events[i].op), module = name(events[i].module);
    Holder& holder = sums[{op, module}];
    holder.op = op;
    holder.module = module;
    ++holder.allocations;
    holder.bytes = Plus(holder.bytes, events[i].bytes);
  }
  std::vector<Holder> holders;
  for (const auto& [key, holder] : sums) holders.push_back(holder);
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return holders;
}

constexpr size_t kMostPoints = 1000;
// Above this the next larger batch or fragment ends in an out-of-memory error.
constexpr double kNearCapacityPct = 90;

// kNone64 when no device of that number is described. The host (device -1) never is.
int64_t CapacityOf(const TimelineView& view, int32_t device) {
  const auto& devices = view.model.tables.Get<TimelineDeviceTable>();
  const timeline::RowRange rows = timeline::RowsOf(devices, view.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row)
    if (devices.device[row] == device && devices.memory_bytes[row] > 0)
      return devices.memory_bytes[row];
  return kNone64;
}

double Percent(int64_t part, int64_t whole) {
  if (part == kNone64 || whole == kNone64 || whole <= 0) return kNoDouble;
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// First event of the largest total; kNone64 is the smallest of all.
const MemoryEvent& Peak(const DeviceEvents& device, int64_t MemoryEvent::* total) {
  return *std::max_element(
      device.events.begin(), device.events.end(),
      [&](const MemoryEvent& a, const MemoryEvent& b) { return a.*total < b.*total; });
}

// Writes the rows of one timeline.
class Writer {
 public:
  Writer(const TimelineView& view, Part& part) : view_(view), part_(part) {}

  void Add(const DeviceEvents& device) {
    AddCurve(device);
    AddOps(device);
    const MemoryEvent& peak = Peak(device, &MemoryEvent::allocated);
    AddPeak(device, peak);
    AddHolders(device, peak);
    AddCategories(view_, device, peak, part_);
  }

 private:
  template <typename Row>
  Row NewRow(const DeviceEvents& device) const {
    auto row = view_.NewRow<Row>();
    row.device_type = device.device_type;
    row.device = device.device;
    return row;
  }

  void AddCurve(const DeviceEvents& device) {
    const size_t events = device.events.size();
    const size_t span = (events + kMostPoints - 1) / kMostPoints;
    for (size_t begin = 0; begin < events; begin += span) {
      const size_t end = std::min(begin + span, events);
      auto row = NewRow<ProfileMemoryCurveRow>(device);
      row.point = static_cast<int32_t>(begin / span);
      row.begin_ns = device.events[begin].time;
      row.end_ns = device.events[end - 1].time;
      row.events = static_cast<int64_t>(end - begin);
      row.allocated_bytes = device.events[end - 1].allocated;
      row.reserved_bytes = device.events[end - 1].reserved;
      for (size_t i = begin; i < end; ++i) {
        row.most_allocated_bytes = std::max(row.most_allocated_bytes, device.events[i].allocated);
        row.most_reserved_bytes = std::max(row.most_reserved_bytes, device.events[i].reserved);
      }
      part_.tables.Edit<ProfileMemoryCurveTable>().Add(row);
    }
  }

  // In order of first use.
  void AddOps(const DeviceEvents& device) {
    std::vector<ProfileMemoryOpRow> rows;
    std::unordered_map<StringId, size_t> row_of;  // by name in the model
    for (const MemoryEvent& event : device.events) {
      const StringId name =
          event.op == kNone32 ? StringId::kNone : view_.name[TimelineView::At(event.op)];
      auto [at, is_new] = row_of.try_emplace(name, rows.size());
      if (is_new) {
        rows.push_back(NewRow<ProfileMemoryOpRow>(device));
        rows.back().op = timeline::Copied(view_.model, name, part_);
        rows.back().allocations = rows.back().allocated_bytes = 0;
        rows.back().frees = rows.back().freed_bytes = rows.back().net_bytes = 0;
      }
      AddTo(rows[at->second], event.bytes);
    }
    for (const ProfileMemoryOpRow& row : rows) part_.tables.Edit<ProfileMemoryOpTable>().Add(row);
  }

  static void AddTo(ProfileMemoryOpRow& row, int64_t bytes) {
    if (bytes >= 0) {
      ++row.allocations;
      row.allocated_bytes = Plus(row.allocated_bytes, bytes);
    } else {
      ++row.frees;
      row.freed_bytes = Plus(row.freed_bytes, -bytes);
    }
    row.net_bytes = Plus(row.net_bytes, bytes);
  }

  void AddPeak(const DeviceEvents& device, const MemoryEvent& peak) {
    const MemoryEvent& reserved = Peak(device, &MemoryEvent::reserved);
    auto row = NewRow<ProfileMemoryPeakRow>(device);
    row.events = static_cast<int64_t>(device.events.size());
    row.totals_known = device.totals_known;
    row.peak_allocated_bytes = peak.allocated;
    row.peak_ns = peak.time;
    row.reserved_at_peak_bytes = peak.reserved;
    row.op = view_.CopyName(peak.op, part_);
    row.module = view_.CopyName(peak.module, part_);
    row.slice = peak.op;
    row.peak_reserved_bytes = reserved.reserved;
    if (reserved.reserved != kNone64) row.peak_reserved_ns = reserved.time;
    row.capacity_bytes = CapacityOf(view_, device.device);
    row.reserved_capacity_pct = Percent(row.peak_reserved_bytes, row.capacity_bytes);
    row.allocated_capacity_pct = Percent(row.peak_allocated_bytes, row.capacity_bytes);
    part_.tables.Edit<ProfileMemoryPeakTable>().Add(row);
  }

  void AddHolders(const DeviceEvents& device, const MemoryEvent& peak) {
    const auto seen = static_cast<size_t>(&peak - device.events.data()) + 1;
    int64_t rest = peak.allocated;
    for (const Holder& holder : AliveAfter(view_, std::span(device.events).first(seen))) {
      AddHolder(device, holder, "recorded", peak.allocated);
      rest = Plus(rest, -holder.bytes);
    }
    if (device.totals_known && rest > 0)
      AddHolder(device, {.allocations = kNone64, .bytes = rest}, "earlier", peak.allocated);
  }

  void AddHolder(const DeviceEvents& device, const Holder& holder, std::string_view source,
                 int64_t whole) {
    auto row = NewRow<ProfileMemoryHolderRow>(device);
    row.op = timeline::Copied(view_.model, holder.op, part_);
    row.module = timeline::Copied(view_.model, holder.module, part_);
    row.source = part_.pools.Intern(source);
    row.allocations = holder.allocations;
    row.bytes = holder.bytes;
    row.share_pct = Percent(holder.bytes, whole);
    part_.tables.Edit<ProfileMemoryHolderTable>().Add(row);
  }

  const TimelineView& view_;
  Part& part_;
};

Finding NearCapacity(const Part& part, const std::vector<size_t>& rows) {
  const auto& peaks = part.tables.Get<ProfileMemoryPeakTable>();
  const size_t worst = *std::max_element(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return peaks.reserved_capacity_pct[a] < peaks.reserved_capacity_pct[b];
  });
  Finding finding;
  finding.rule = "memory.near_capacity";
  finding.severity = Severity::kWarning;
  finding.job = peaks.job[worst];
  finding.attempt = peaks.attempt[worst];
  std::set<int32_t> ranks;
  for (size_t row : rows)
    if (peaks.rank[row] != kNone32) ranks.insert(peaks.rank[row]);
  finding.ranks.assign(ranks.begin(), ranks.end());
  finding.headline =
      fmt::format("{} has reserved {:.0f} % of its memory ({} of {}){}",
                  memory::DeviceName(peaks.device[worst], peaks.rank[worst]),
                  peaks.reserved_capacity_pct[worst], SizeText(peaks.peak_reserved_bytes[worst]),
                  SizeText(peaks.capacity_bytes[worst]), memory::Others(rows.size()));
  finding.op = part.pools.Text(peaks.op[worst]);
  finding.evidence.push_back({.text = fmt::format("at the peak of that device {} were in use",
                                                  SizeText(peaks.peak_allocated_bytes[worst])),
                              .table = "profile_memory_peak",
                              .rows = {static_cast<int64_t>(worst)}});
  finding.confidence = 0.9;
  finding.why = fmt::format(
      "the profiler's own totals; said above {:.0f} %. Other processes on the device are not seen",
      kNearCapacityPct);
  finding.next_step =
      "See what was alive then: debrief query OUT \"FROM profile_memory_holder ORDER BY bytes "
      "DESC\"";
  return finding;
}

// One for each job and attempt.
void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& peaks = part.tables.Get<ProfileMemoryPeakTable>();
  std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> near;
  for (size_t row = 0; row < peaks.size(); ++row)
    if (peaks.reserved_capacity_pct[row] > kNearCapacityPct)
      near[{peaks.job[row], peaks.attempt[row]}].push_back(row);
  for (const auto& [job, rows] : near) findings.push_back(NearCapacity(part, rows));
}

// Of devices alone: what hosts allocate is theirs.
void AddFit(AnalysisResult& result) {
  std::vector<memory::PeakParts> peaks;
  std::map<std::pair<int32_t, int32_t>, size_t> numbers;  // by input and device
  const auto& tops = result.part.tables.Get<ProfileMemoryPeakTable>();
  for (size_t row = 0; row < tops.size(); ++row) {
    if (tops.device[row] < 0) continue;
    numbers[{tops.input[row], tops.device[row]}] = peaks.size();
    peaks.push_back({.who = {tops.input[row], tops.job[row], tops.attempt[row], tops.rank[row]},
                     .device = tops.device[row],
                     .source = "profile",
                     .in_use = tops.peak_allocated_bytes[row],
                     .reserved = tops.reserved_at_peak_bytes[row],
                     .capacity = tops.capacity_bytes[row]});
  }
  const auto& rows = result.part.tables.Get<ProfileMemoryCategoryTable>();
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto found = numbers.find({rows.input[row], rows.device[row]});
    if (found == numbers.end()) continue;
    peaks[found->second].Add(result.part.pools.Text(rows.category[row]), rows.bytes[row],
                             rows.allocations[row]);
  }
  memory::AddFits(peaks, result.part, result.findings);
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const TimelineView& view : timeline::Timelines(model)) {
    Writer writer(view, result.part);
    for (const DeviceEvents& device : MemoryEventsOf(view)) writer.Add(device);
  }
  AddFindings(result.part, result.findings);
  AddFit(result);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info =
          {.name = "profile_memory",
           .sentence = "How much memory did each device need, and which ops held it?",
           .example = "GPU 0 of rank 3 has reserved 97 % of its memory (77.6 GiB of 80.0 GiB; "
                      "61.2 GiB were in use at the peak)",
           .needs = kTableNames<TimelineMemoryTable, TimelineSliceTable>,
           .makes =
               kTableNames<ProfileMemoryCurveTable, ProfileMemoryPeakTable, ProfileMemoryOpTable,
                           ProfileMemoryHolderTable, ProfileMemoryCategoryTable, MemoryFitTable>,
           .uses = kTableNames<timeline::ViewTables, TimelineDeviceTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_memory
