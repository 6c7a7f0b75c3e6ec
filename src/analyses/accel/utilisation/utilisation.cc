// How much of the device's computing array do its kernels use?
//
// A kernel's name leads to its ideal cycles. With the autopilot the device runs
// whole programs by itself: what it shows of single kernels is not what they took, and only the sum
// over a timeline can be compared. Cost: one pass over the kernels of each timeline.
#include "analyses/accel/utilisation/utilisation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/accel/devices.h"
#include "analyses/analysis.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/accel_ideal.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"
#include "tables/accel_utilisation.h"
#include "tables/timeline_device.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_utilisation {

namespace {

// Tables of ideal cycles as the compilers of all ranks wrote them, and which of them was run.
//
//   rank 0   TTFT {bmm 12288, sub 0, ...}  ITL {bmm 768, ...}     a log has several tables
//   rank 1   TTFT {...}  ...                                      a log alone is of all ranks
//   bmm/perf/ideal_cycles.json, sub/perf/ideal_cycles.json ...    together one table, of all ranks
//
// Logs of the timeline's own job count, others only where it has none.
// Cost: linear in the rows of accel_ideal.

struct IdealKernel {
  StringId category = StringId::kNone;
  int64_t cycles = 0;
};

struct IdealTable {
  StringId phase = StringId::kNone;
  bool autopilot = false;
  int64_t total_cycles = kNone64;
  std::unordered_map<StringId, IdealKernel> kernels;
};

struct Fit {
  int64_t listed_calls = 0;
  int64_t unused = 0;  // kernels that it lists and that did not run
  auto Order() const { return std::tuple(listed_calls, -unused); }
};

Fit FitOf(const IdealTable& table, const std::unordered_map<StringId, int64_t>& calls) {
  Fit fit{.unused = static_cast<int64_t>(table.kernels.size())};
  for (const auto& [kernel, count] : calls) {
    if (!table.kernels.contains(kernel)) continue;
    fit.listed_calls += count;
    --fit.unused;
  }
  return fit;
}

class IdealTables {
 public:
  explicit IdealTables(const Model& model) {
    const auto& rows = model.tables.Get<AccelIdealTable>();
    StringId total = model.pools.strings.Find("Total");
    std::map<std::pair<int32_t, int32_t>, IdealTable> tables;  // by input and number
    std::map<int32_t, std::pair<int32_t, int32_t>> whose;      // job and rank, by input
    for (size_t row = 0; row < rows.size(); ++row) {
      IdealTable& table = tables[{rows.input[row], rows.number[row]}];
      whose[rows.input[row]] = {rows.job[row], rows.rank[row]};
      table.phase = rows.phase[row];
      table.autopilot = rows.autopilot[row] != 0;
      if (rows.category[row] == total && rows.kernel[row] == total) {
        table.total_cycles = rows.cycles[row];
      } else {
        table.kernels[rows.kernel[row]] = {rows.category[row], rows.cycles[row]};
      }
    }
    int32_t last_input = kNone32;
    for (auto& [key, table] : tables) {
      if (table.total_cycles == kNone64) {  // a file of one kernel has no sum
        single_files_.phase = table.phase;
        single_files_.kernels.merge(table.kernels);
        continue;
      }
      if (logs_.empty() || key.first != last_input)
        logs_.push_back({.job = whose[key.first].first, .rank = whose[key.first].second});
      last_input = key.first;
      logs_.back().tables.push_back(std::move(table));
    }
  }

  // Of the tables that are meant for the rank, the one that lists most of what ran, and then the
  // one that lists least of what did not. `calls`: by kernel. Null when none lists any of it.
  const IdealTable* Choose(const Identity& who,
                           const std::unordered_map<StringId, int64_t>& calls) const {
    const IdealTable* best = nullptr;
    Fit best_fit;
    auto consider = [&](const IdealTable& table) {
      Fit fit = FitOf(table, calls);
      if (fit.listed_calls == 0 || (best != nullptr && fit.Order() <= best_fit.Order())) return;
      best = &table;
      best_fit = fit;
    };
    if (const Log* log = LogOf(who)) {
      for (const IdealTable& table : log->tables) consider(table);
    }
    consider(single_files_);
    return best;
  }

 private:
  struct Log {
    int32_t job = kNone32, rank = kNone32;
    std::vector<IdealTable> tables;
  };

  const Log* LogOf(const Identity& who) const {
    std::vector<const Log*> logs;
    for (const Log& log : logs_) {
      if (log.job == who.job) logs.push_back(&log);
    }
    if (logs.empty()) {
      for (const Log& log : logs_) logs.push_back(&log);
    }
    if (logs.size() == 1) return logs.front();
    for (const Log* log : logs) {
      if (log->rank != kNone32 && log->rank == who.rank) return log;
    }
    // Logs that name no rank are in the order of ranks.
    bool in_range = who.rank >= 0 && static_cast<size_t>(who.rank) < logs.size();
    if (!in_range) return nullptr;
    const Log* log = logs[static_cast<size_t>(who.rank)];
    return log->rank == kNone32 ? log : nullptr;
  }

  std::vector<Log> logs_;  // in order of their names
  IdealTable single_files_;
};

using timeline::TimelineView;

// The core runs this much faster than the counter, unless someone says otherwise.
constexpr double kCoreOverCounter = 1.1;
constexpr double kCoreMhz = 1100;

struct Sum {
  int64_t calls = 0, time_ns = 0, cycles = kNone64;
};
using Sums = std::map<StringId, Sum>;  // by kernel, as the compiler calls it

// "bmm-BMM_1 Cmpt Exec" is the compiler's "bmm-BMM_1"; a name that none knows stays as it is.
StringId CompilersName(const Pools& pools, StringId name) {
  constexpr std::string_view kSuffix = " Cmpt Exec";
  std::string_view text = pools.Text(name);
  if (!text.ends_with(kSuffix)) return name;
  StringId short_name = pools.strings.Find(text.substr(0, text.size() - kSuffix.size()));
  return short_name == StringId::kNone ? name : short_name;
}

class Collector {
 public:
  explicit Collector(const TimelineView& view)
      : view_(view), stamps_(view.model.tables.Get<AccelStampTable>()) {}

  // By device.
  std::map<int32_t, Sums> Collect(const timeline::DeviceWorks& works) {
    std::unordered_map<int32_t, int64_t> cycles = CyclesBySlice();
    std::unordered_map<StringId, StringId> names;
    std::map<int32_t, Sums> sums;
    for (const timeline::DeviceWork& work : works.works) {
      if (work.device_class != timeline::DeviceClass::kCompute) continue;
      StringId name = view_.name[TimelineView::At(work.slice)];
      auto [found, is_new] = names.try_emplace(name, StringId::kNone);
      if (is_new) found->second = CompilersName(view_.model.pools, name);
      Sum& sum = sums[work.device][found->second];
      ++sum.calls;
      sum.time_ns += work.time.length();
      auto told = cycles.find(work.slice);
      if (told != cycles.end())
        sum.cycles = (sum.cycles == kNone64 ? 0 : sum.cycles) + told->second;
    }
    return sums;
  }

 private:
  std::unordered_map<int32_t, int64_t> CyclesBySlice() const {
    std::unordered_map<int32_t, int64_t> cycles;
    timeline::RowRange rows = timeline::RowsOf(stamps_, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row)
      cycles[stamps_.slice[row]] = stamps_.ts4[row] - stamps_.ts3[row];
    return cycles;
  }

  const TimelineView& view_;
  const AccelStampTable& stamps_;
};

double CoreMhz(const TimelineView& view, int32_t device) {
  const auto& rates = view.model.tables.Get<AccelRateTable>();
  timeline::RowRange rows = timeline::RowsOf(rates, view.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (rates.device[row] == device && !std::isnan(rates.mhz[row]))
      return rates.mhz[row] * kCoreOverCounter;
  }
  return kCoreMhz;
}

// The rows of one device.
class Writer {
 public:
  Writer(const Identity& who, int32_t device, double core_mhz, const IdealTable& table,
         const Pools& pools, Part& part)
      : who_(who),
        device_(device),
        core_mhz_(core_mhz),
        ideal_(table),
        pools_(pools),
        part_(part) {}

  Utilisation Write(const Sums& sums) {
    for (const auto& [kernel, sum] : sums) AddKernel(kernel, sum);
    AddTotal();
    return std::move(found_);
  }

 private:
  AccelUtilisationRow NewRow(std::string_view kernel, const Sum& sum, int64_t ideal_cycles) {
    auto row = Part::RowOf<AccelUtilisationRow>(who_);
    row.device = device_;
    row.kernel = part_.pools.Intern(kernel);
    row.phase = part_.pools.Intern(pools_.Text(ideal_.phase));
    row.calls = sum.calls;
    row.time_ns = sum.time_ns;
    row.cycles = sum.cycles;
    row.core_mhz = core_mhz_;
    row.valid = true;
    if (ideal_cycles == kNone64) return row;
    row.ideal_cycles = ideal_cycles;
    row.ideal_ns = std::llround(static_cast<double>(ideal_cycles) * 1000 / core_mhz_);
    if (ideal_cycles > 0 && sum.time_ns > 0)
      row.utilisation_pct =
          100 * static_cast<double>(row.ideal_ns) / static_cast<double>(sum.time_ns);
    return row;
  }

  void MarkInvalid(std::string_view why, AccelUtilisationRow& row) {
    row.valid = false;
    row.why_not = part_.pools.Intern(why);
  }

  int64_t Add(const AccelUtilisationRow& row) {
    auto& table = part_.tables.Edit<AccelUtilisationTable>();
    table.Add(row);
    return static_cast<int64_t>(table.size()) - 1;
  }

  void AddKernel(StringId kernel, const Sum& sum) {
    auto listed = ideal_.kernels.find(kernel);
    bool is_listed = listed != ideal_.kernels.end();
    total_.calls += sum.calls;
    total_.time_ns += sum.time_ns;
    if (sum.cycles != kNone64)
      total_.cycles = (total_.cycles == kNone64 ? 0 : total_.cycles) + sum.cycles;
    std::string_view name = pools_.Text(kernel);
    auto row = NewRow(name, sum, is_listed ? listed->second.cycles * sum.calls : kNone64);
    if (is_listed) row.category = part_.pools.Intern(pools_.Text(listed->second.category));
    if (ideal_.autopilot)
      MarkInvalid("with the autopilot times of single kernels are not their own", row);
    if (!is_listed) MarkInvalid("the compiler's table does not list it", row);
    int64_t at = Add(row);
    if (!is_listed || listed->second.cycles == 0) return;
    total_ideal_ += row.ideal_cycles;
    found_.kernels.push_back({std::string(name), sum.time_ns, row.ideal_ns, at});
  }

  void AddTotal() {
    int64_t ideal = ideal_.autopilot ? ideal_.total_cycles : total_ideal_;
    auto row = NewRow("Total", total_, ideal);
    row.category = part_.pools.Intern("Total");
    found_.who = who_;
    found_.autopilot = ideal_.autopilot;
    found_.time_ns = total_.time_ns;
    found_.ideal_ns = row.ideal_ns;
    found_.total_row = Add(row);
  }

  Identity who_;
  int32_t device_;
  double core_mhz_;
  const IdealTable& ideal_;
  const Pools& pools_;
  Part& part_;
  Sum total_;
  int64_t total_ideal_ = 0;
  Utilisation found_;
};

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  IdealTables tables(model);
  std::vector<Utilisation> found;
  for (const TimelineView& view : timeline::Timelines(model)) {
    if (accel::VendorOf(view) != "aiu") continue;
    size_t stamped = accel::StampedDevices(view);
    for (const auto& [device, sums] : Collector(view).Collect(DeviceWorksOf(view, classes))) {
      Identity who = accel::OwnerOf(view, device, stamped);
      std::unordered_map<StringId, int64_t> calls;
      for (const auto& [kernel, sum] : sums) calls[kernel] = sum.calls;
      const IdealTable* table = tables.Choose(who, calls);
      if (table == nullptr) continue;
      Writer writer(who, device, CoreMhz(view, device), *table, model.pools, result.part);
      found.push_back(writer.Write(sums));
    }
  }
  AddFindings(found, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_utilisation",
               .sentence = "How much of the device's computing array do its kernels use?",
               .example = "Kernels reach 18 % of what their compiler promises (412 ms instead of "
                          "74.2 ms): mostly bmm-BMM_1, addmm_1",
               .needs = kTableNames<AccelIdealTable, TimelineSliceTable>,
               .makes = kTableNames<AccelUtilisationTable>,
               .uses = kTableNames<timeline::ViewTables, AccelRateTable, AccelStampTable,
                                   TimelineDeviceTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_utilisation
