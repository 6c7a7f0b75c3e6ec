#include "outputs/exports/chrome/timeline_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/text/escape.h"
#include "base/text/strings.h"
#include "model/timeline/columns.h"
#include "model/timeline/kinds.h"
#include "model/trace_events/rest_args.h"
#include "outputs/exports/chrome/event_text.h"
#include "tables/timeline_args.h"
#include "tables/timeline_counter.h"

namespace debrief::outputs::chrome {

namespace {

void AppendInt(std::string& out, int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void AppendKey(std::string_view key, std::string& out) {
  if (out.back() != '{') out += ", ";
  out += '"';
  out += key;
  out += "\": ";
}

void AppendField(std::string_view key, std::string_view text, std::string& out) {
  AppendKey(key, out);
  AppendJsonString(out, text);
}

void AppendField(std::string_view key, int64_t number, std::string& out) {
  AppendKey(key, out);
  AppendInt(out, number);
}

class TimelineEvents {
 public:
  // All must outlive it. `base_ns` is taken off all times.
  TimelineEvents(const MergedTimeline& merged, int64_t base_ns, NumberGiver& pids, EventFile& file)
      : merged_(merged),
        view_(merged.view),
        model_(merged.view.model),
        base_ns_(base_ns),
        file_(file),
        next_work_(view_.works.begin),
        next_op_(view_.ops.begin),
        next_collective_(view_.collectives.begin),
        args_rows_(
            timeline::RowsOf(merged.view.model.tables.Get<TimelineArgsTable>(), view_.who.input)) {
    NumberTracks(pids);
  }

  Status Write() {
    FindLaunched();
    TRY(WriteNames());
    TRY(WriteSlices());
    TRY(WriteMemory());
    TRY(WriteCounters());
    return WriteFlows();
  }

 private:
  void NumberTracks(NumberGiver& pids) {
    const auto& processes = model_.tables.Get<TimelineProcessTable>();
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    const auto rows = timeline::RowsOf(processes, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row)
      pids_.push_back(pids.NumberFor(Text(processes.pid[row])));
    // Those with the same tid are one row in the viewer, whatever their kind.
    std::vector<NumberGiver> givers(pids_.size());
    std::map<std::pair<int32_t, StringId>, int64_t> numbers;
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) {
      const int32_t process = tracks.process[row];
      const auto [found, is_new] = numbers.try_emplace({process, tracks.tid[row]}, 0);
      if (is_new)
        found->second = givers[static_cast<size_t>(process)].NumberFor(Text(tracks.tid[row]));
      tids_.push_back(found->second);
    }
  }

  // A text that is no number is a name where there is no other.
  Status WriteNames() {
    const auto& processes = model_.tables.Get<TimelineProcessTable>();
    const auto rows = timeline::RowsOf(processes, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      const int64_t pid = pids_[row - rows.begin];
      std::string name(Text(processes.name[row]));
      if (name.empty() && !IsNumber(Text(processes.pid[row]))) name = Text(processes.pid[row]);
      TRY(WriteName("process_name", "name", pid, 0, merged_.name_prefix + name));
      TRY(WriteName("process_labels", "labels", pid, 0, Text(processes.labels[row])));
      TRY(WriteOrder("process_sort_index", pid, 0, processes.sort_index[row]));
    }
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) {
      if (tracks.kind[row] == view_.kinds.counter || tracks.kind[row] == view_.kinds.async)
        continue;
      const int64_t pid = pids_[static_cast<size_t>(tracks.process[row])];
      const int64_t tid = tids_[row - view_.tracks.begin];
      std::string_view name = Text(tracks.name[row]);
      if (name.empty() && !IsNumber(Text(tracks.tid[row]))) name = Text(tracks.tid[row]);
      TRY(WriteName("thread_name", "name", pid, tid, name));
      TRY(WriteOrder("thread_sort_index", pid, tid, tracks.sort_index[row]));
    }
    return {};
  }

  Status WriteName(std::string_view what, std::string_view key, int64_t pid, int64_t tid,
                   std::string_view value) {
    if (value.empty()) return {};
    std::string& out = file_.Begin();
    fmt::format_to(
        std::back_inserter(out),
        R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": 0.000, "args": {{"{}": )", what,
        pid, tid, key);
    AppendJsonString(out, value);
    out += "}}";
    return file_.End();
  }

  Status WriteOrder(std::string_view what, int64_t pid, int64_t tid, int32_t value) {
    if (value == kNone32) return {};
    std::string& out = file_.Begin();
    fmt::format_to(
        std::back_inserter(out),
        R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": 0.000, "args": {{"sort_index": {}}}}})",
        what, pid, tid, value);
    return file_.End();
  }

  Status WriteSlices() {
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) {
      const int32_t first = tracks.first_slice[row];
      const bool is_async = tracks.kind[row] == view_.kinds.async;
      for (int32_t slice = first; slice < first + tracks.slices[row]; ++slice) {
        TRY(is_async ? WriteAsync(slice, row) : WriteSlice(slice, row));
        TRY(WriteLaunchArrow(slice, row));
      }
    }
    return {};
  }

  Status WriteSlice(int32_t slice, size_t track_row) {
    const auto at = static_cast<size_t>(slice);
    const bool is_instant = view_.kind[at] == view_.kinds.instant && view_.duration[at] <= 0;
    std::string& out = Begin(is_instant ? 'i' : 'X', track_row, view_.start[at]);
    if (is_instant) {
      out += R"(, "s": "t")";
    } else {
      out += R"(, "dur": )";
      const int64_t start = view_.start[at];
      const int64_t end = start + std::max<int64_t>(view_.duration[at], 0);
      AppendMicros(out, merged_.TimeOf(end) - merged_.TimeOf(start));
    }
    std::string_view category = Text(view_.category[at]);
    if (category.empty() && !is_instant) category = timeline::CategoryOfKind(Text(view_.kind[at]));
    if (!category.empty()) AppendField("cat", category, out);
    AppendField("name", view_.NameOf(slice), out);
    AppendArgs(slice, out);
    out += '}';
    return file_.End();
  }

  // A begin and an end. What has no id of its own gets one: slices of a chain may overlap.
  Status WriteAsync(int32_t slice, size_t track_row) {
    const auto at = static_cast<size_t>(slice);
    const int64_t own = view_.external_id[at];
    const int64_t id = own != kNone64 ? merged_.IdOf(own) : merged_.first_id + slice;
    auto write = [&](char phase, int64_t time) {
      std::string& out = Begin(phase, track_row, time);
      AppendField("id", id, out);
      AppendField("cat", Text(view_.category[at]), out);
      AppendField("name", view_.NameOf(slice), out);
      if (phase == 'b') AppendArgs(slice, out);
      out += '}';
      return file_.End();
    };
    TRY(write('b', view_.start[at]));
    return write('e', view_.start[at] + std::max<int64_t>(view_.duration[at], 0));
  }

  // From the call to everything that has its correlation.
  Status WriteLaunchArrow(int32_t slice, size_t track_row) {
    const auto at = static_cast<size_t>(slice);
    const int64_t correlation = view_.correlation[at];
    if (correlation == kNone64 || !launched_.contains(correlation)) return {};
    const bool starts = view_.kind[at] == view_.kinds.runtime;
    if (!starts && (!view_.kinds.IsWork(view_.kind[at]) || !launching_.contains(correlation)))
      return {};
    std::string& out = Begin(starts ? 's' : 'f', track_row, view_.start[at]);
    AppendField("id", merged_.IdOf(correlation), out);
    out += R"(, "cat": "ac2g", "name": "ac2g")";
    if (!starts) out += R"(, "bp": "e")";
    out += '}';
    return file_.End();
  }

  Status WriteMemory() {
    const auto& memory = model_.tables.Get<TimelineMemoryTable>();
    for (size_t row = view_.memory.begin; row < view_.memory.end; ++row) {
      const size_t track_row = view_.tracks.begin + static_cast<size_t>(memory.track[row]);
      std::string& out = Begin('i', track_row, memory.time_ns[row]);
      out += R"(, "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "args": {)";
      AppendColumns(memory, row, out);
      out += "}}";
      TRY(file_.End());
    }
    return {};
  }

  // Values of one counter at one time are one event: viewers stack them.
  Status WriteCounters() {
    const auto& counters = model_.tables.Get<TimelineCounterTable>();
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    for (size_t row = view_.counters.begin; row < view_.counters.end;) {
      const int32_t track = counters.track[row];
      const int64_t time = counters.time_ns[row];
      const size_t track_row = view_.tracks.begin + static_cast<size_t>(track);
      std::string& out = Begin('C', track_row, time);
      AppendField("name", Text(tracks.tid[track_row]), out);
      out += R"(, "args": {)";
      for (; row < view_.counters.end && counters.track[row] == track &&
             counters.time_ns[row] == time;
           ++row) {
        if (out.back() != '{') out += ", ";
        AppendJsonString(out, Text(counters.series[row]));
        const double number = counters.number[row];
        fmt::format_to(std::back_inserter(out), ": {}", std::isfinite(number) ? number : 0.0);
      }
      out += "}}";
      TRY(file_.End());
    }
    return {};
  }

  Status WriteFlows() {
    const auto& flows = model_.tables.Get<TimelineFlowTable>();
    for (size_t row = view_.flows.begin; row < view_.flows.end; ++row) {
      const std::string_view phase = Text(flows.phase[row]);
      const char letter = phase == timeline::kFlowStart  ? 's'
                          : phase == timeline::kFlowStep ? 't'
                                                         : 'f';
      const size_t track_row = view_.tracks.begin + static_cast<size_t>(flows.track[row]);
      std::string& out = Begin(letter, track_row, flows.time_ns[row]);
      AppendField("id", merged_.IdOf(flows.id[row]), out);
      AppendField("cat", Text(flows.name[row]), out);
      AppendField("name", Text(flows.name[row]), out);
      if (letter == 'f') out += R"(, "bp": "e")";
      out += '}';
      TRY(file_.End());
    }
    return {};
  }

  std::string& Begin(char phase, size_t track_row, int64_t time) {
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    std::string& out = file_.Begin();
    out += '{';
    AppendField("ph", std::string_view(&phase, 1), out);
    AppendField("pid", pids_[static_cast<size_t>(tracks.process[track_row])], out);
    AppendField("tid", tids_[track_row - view_.tracks.begin], out);
    AppendKey("ts", out);
    AppendMicros(out, merged_.TimeOf(time) - base_ns_);
    return out;
  }

  void AppendArgs(int32_t slice, std::string& out) {
    const auto at = static_cast<size_t>(slice);
    const size_t before = out.size();
    out += R"(, "args": {)";
    const size_t empty = out.size();
    const std::string_view rest = NextRest(slice);
    better_told_ = rest_.BetterToldIn(rest);
    // That of an asynchronous slice is the id of its events.
    if (view_.kind[at] != view_.kinds.async)
      AppendColumn(timeline::kExternalIdKey, merged_.IdOf(view_.external_id[at]), out);
    AppendColumn(timeline::kCorrelationKey, merged_.IdOf(view_.correlation[at]), out);
    auto append = [&](const auto& table, size_t& row, size_t end) {
      if (row < end && table.slice[row] == slice) AppendColumns(table, row++, out);
    };
    append(model_.tables.Get<TimelineDeviceWorkTable>(), next_work_, view_.works.end);
    append(model_.tables.Get<TimelineOpTable>(), next_op_, view_.ops.end);
    append(model_.tables.Get<TimelineCollectiveTable>(), next_collective_, view_.collectives.end);
    if (!rest.empty() && out.size() > empty) out += ", ";
    if (!rest.empty()) out += rest.substr(1, rest.size() - 2);
    if (out.size() == empty) {
      out.resize(before);
    } else {
      out += '}';
    }
  }

  // Arguments that have no column, as a JSON object; empty when there are none.
  std::string_view NextRest(int32_t slice) {
    const auto& table = model_.tables.Get<TimelineArgsTable>();
    const size_t row = args_rows_.begin;
    if (row >= args_rows_.end || table.slice[row] != slice) return {};
    ++args_rows_.begin;
    return Text(table.args[row]);
  }

  template <typename Table>
  void AppendColumns(const Table& table, size_t row, std::string& out) {
    timeline::VisitColumns(table, row, [&](std::string_view key, auto value) {
      if (!better_told_.Covers(key)) AppendColumn(key, value, out);
    });
  }

  void AppendColumn(std::string_view key, int64_t value, std::string& out) {
    if (value == kNone64) return;
    if (MergedTimeline::IsIdKey(key)) value = merged_.IdOf(value);
    // The profiler tells grids and blocks by their three sizes.
    const bool is_product = key == "blocks" || key == "threads";
    AppendKey(key == "blocks" ? "grid" : key == "threads" ? "block" : key, out);
    if (is_product) out += '[';
    AppendInt(out, value);
    if (is_product) out += ", 1, 1]";
  }

  void AppendColumn(std::string_view key, int32_t value, std::string& out) {
    if (value != kNone32) AppendColumn(key, int64_t{value}, out);
  }

  void AppendColumn(std::string_view key, double value, std::string& out) {
    if (!std::isfinite(value)) return;
    AppendKey(key, out);
    fmt::format_to(std::back_inserter(out), "{}", value);
  }

  void AppendColumn(std::string_view key, StringId value, std::string& out) {
    if (value == StringId::kNone) return;
    const bool is_list = (key == "Input Dims" || key == "Input type") && IsPlainList(Text(value));
    if (!is_list) return AppendField(key, Text(value), out);
    AppendKey(key, out);
    out += Text(value);
  }

  // The profiler writes them as a text.
  void AppendColumn(std::string_view key, ListId value, std::string& out) {
    if (value == ListId::kNone) return;
    AppendKey(key, out);
    fmt::format_to(std::back_inserter(out), "\"[{}]\"",
                   fmt::join(model_.pools.lists.Get(value), ", "));
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  void FindLaunched() {
    for (size_t at = 0; at < view_.slices.size(); ++at) {
      if (view_.correlation[at] == kNone64) continue;
      if (view_.kinds.IsWork(view_.kind[at])) launched_.insert(view_.correlation[at]);
      if (view_.kind[at] == view_.kinds.runtime) launching_.insert(view_.correlation[at]);
    }
  }

  const MergedTimeline& merged_;
  const timeline::TimelineView& view_;
  const Model& model_;
  int64_t base_ns_;
  EventFile& file_;
  std::vector<int64_t> pids_, tids_;                  // by process and by track
  std::unordered_set<int64_t> launched_, launching_;  // correlations of work and of launches
  size_t next_work_, next_op_, next_collective_;
  timeline::RowRange args_rows_;  // those that are not written yet
  trace_events::RestArgs rest_;
  trace_events::BetterTold better_told_;  // of the slice that is being written
};

}  // namespace

int64_t NumberGiver::NumberFor(std::string_view text) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  if (number && taken_.insert(*number).second) return *number;
  while (!taken_.insert(next_).second) ++next_;
  return next_;
}

Status WriteTimelineEvents(const MergedTimeline& merged, int64_t base_ns, NumberGiver& pids,
                           EventFile& file) {
  return TimelineEvents(merged, base_ns, pids, file).Write();
}

}  // namespace debrief::outputs::chrome
