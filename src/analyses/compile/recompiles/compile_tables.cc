#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analyses/compile/break_text.h"
#include "analyses/compile/recompiles/recompiles.h"
#include "analyses/compile/rows.h"
#include "model/compile/payload.h"
#include "tables/compilation.h"
#include "tables/compile_frame_group.h"
#include "tables/compile_orphan.h"
#include "tables/compile_restart.h"
#include "tables/compile_span.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::compile_recompiles {

namespace {

class CompilationWriter {
 public:
  CompilationWriter(const Compilations& compilations, Part& part)
      : compilations_(compilations),
        model_(compilations.model()),
        texts_(model_.pools, part.pools),
        rows_(part.tables.Edit<CompilationTable>()) {
    const auto& restarts = model_.tables.Get<CompileRestartTable>();
    for (size_t row = 0; row < restarts.size(); ++row) {
      const int32_t at = compilations.At(restarts, row);
      if (at != kNobody) first_restart_.try_emplace(at, restarts.reason[row]);
    }
    FindSpans();
  }

  Status Add(int32_t at, const MainChange& change) {
    const Compilation& of = compilations_.all()[static_cast<size_t>(at)];
    auto row = compilations_.RowFor<CompilationRow>(of);
    row.compile_id = texts_(of.id);
    row.frame_id = of.frame_id;
    row.function = of.what.empty() ? texts_(of.function) : texts_(of.what);
    row.file = texts_(of.code.file);
    row.line = of.code.line;
    row.number = of.number;
    if (of.previous != kNobody)
      row.previous_id = texts_(compilations_.all()[static_cast<size_t>(of.previous)].id);
    row.outcome = texts_(of.outcome);
    row.is_last = of.ends_log;
    row.restarts = of.restarts;
    row.start_ns = of.start_ns;
    row.end_ns = of.end_ns;
    row.first_entry = of.first_entry;
    row.last_entry = of.last_entry;
    row.user_file = texts_(of.user.file);
    row.user_line = of.user.line;
    row.caller_file = texts_(of.caller.file);
    row.caller_line = of.caller.line;
    row.why = texts_(change.words);
    SetMetrics(of, row);
    if (!of.stop_file.empty()) {
      row.fail_file = texts_(of.stop_file);
      row.fail_line = of.stop_line;
      row.fail_reason = texts_("tracing stopped at this line");
    }
    if (of.took_ns != kNone64) row.seconds = static_cast<double>(of.took_ns) / 1e9;
    if (auto span = span_seconds_.find(at); span != span_seconds_.end()) row.seconds = span->second;
    TRY(SetBreak(at, of, row));
    rows_.Add(row);
    return {};
  }

 private:
  // What the phases of a compilation add up to is its time everywhere; its metrics, which leave
  // out a backward graph that is compiled later, only where there are no phases. Where ids come a
  // second time, a span has the time of both.
  void FindSpans() {
    std::set<std::pair<int32_t, std::string_view>> twice;
    for (const Compilation& one : compilations_.all())
      if (one.begins_anew) twice.emplace(one.process, one.id);
    const auto& spans = model_.tables.Get<CompileSpanTable>();
    for (size_t row = 0; row < spans.size(); ++row) {
      const int32_t at = compilations_.At(spans, row);
      if (at == kNobody || std::isnan(spans.seconds[row])) continue;
      const Compilation& one = compilations_.all()[static_cast<size_t>(at)];
      if (!twice.contains({one.process, one.id})) span_seconds_.emplace(at, spans.seconds[row]);
    }
  }

  void SetMetrics(const Compilation& of, CompilationRow& row) {
    if (of.metrics == kNoRow) return;
    const auto& metrics = compilations_.metrics();
    row.ops = metrics.graph_op_count[of.metrics];
    row.guards = metrics.guard_count[of.metrics];
    row.seconds = metrics.entire_frame_compile_time_s[of.metrics];
    if (std::isnan(row.seconds) && metrics.duration_us[of.metrics] != kNone64)
      row.seconds = static_cast<double>(metrics.duration_us[of.metrics]) / 1e6;
    row.wasted_s = metrics.dynamo_time_before_restart_s[of.metrics];
    const size_t failure = of.failure();
    row.fail_type = texts_(metrics.fail_type[failure]);
    row.fail_reason = texts_(ShortReason(model_.pools.Text(metrics.fail_reason[failure])));
    row.fail_file = texts_(metrics.fail_user_frame_filename[failure]);
    const int64_t line = metrics.fail_user_frame_lineno[failure];
    if (line >= 0 && line <= INT32_MAX) row.fail_line = static_cast<int32_t>(line);
  }

  // The first break that was logged, else the first reason of a restart.
  Status SetBreak(int32_t at, const Compilation& of, CompilationRow& row) {
    if (!of.breaks.empty()) {
      TRY(ReadPayload(model_, model_.tables.Get<CompileEntryTable>(), of.breaks[0], text_));
    } else if (auto found = first_restart_.find(at); found != first_restart_.end()) {
      text_ = model_.pools.Text(found->second);
    } else {
      return {};
    }
    const BreakText parsed = ParseBreakText(text_);
    row.break_reason = texts_(parsed.reason);
    Pools scratch;
    auto frames = UserFrames(scratch, AddTextStack(parsed.frames, scratch));
    if (!frames.empty()) {
      const Frame& frame = scratch.GetFrame(frames[0]);
      row.break_file = texts_(scratch.Text(frame.file));
      row.break_line = frame.line;
    } else if (!parsed.file.empty()) {
      row.break_file = texts_(parsed.file);
      row.break_line = parsed.line;
    }
    return {};
  }

  const Compilations& compilations_;
  const Model& model_;
  ResultTexts texts_;
  CompilationTable& rows_;
  std::map<int32_t, StringId> first_restart_;
  std::map<int32_t, double> span_seconds_;
  std::string text_;
};

// One code object in one process.
struct Group {
  CompileFrameGroupRow row;
  std::set<int64_t> frames;
  std::map<std::pair<std::string_view, std::string_view>, int32_t> changes;  // kind and source
};

void Count(const CompilationTable& rows, size_t at, bool is_recompile, Group& group) {
  CompileFrameGroupRow& to = group.row;
  if (rows.frame_id[at] != kNone64) group.frames.insert(rows.frame_id[at]);
  ++to.compilations;
  to.recompilations += is_recompile;
  to.restarts += rows.restarts[at];
  if (!std::isnan(rows.seconds[at]))
    to.seconds = (std::isnan(to.seconds) ? 0 : to.seconds) + rows.seconds[at];
}

// "type of L['k'] (2), value of L['k'] (1)"; the most frequent first.
void Explain(Group& group, Pools& pools) {
  CompileFrameGroupRow& to = group.row;
  if (group.changes.empty()) {
    if (group.frames.size() < 2) return;
    to.kind = pools.Intern("new_frame");
    to.why = pools.Intern(
        "compiled in several frames and no guard failed: the caches were reset, or the function "
        "was "
        "defined anew");
    return;
  }
  using Item = std::pair<std::pair<std::string_view, std::string_view>, int32_t>;
  std::vector<Item> items(group.changes.begin(), group.changes.end());
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  constexpr size_t kMost = 4;
  std::string why;
  for (size_t i = 0; i < std::min(items.size(), kMost); ++i) {
    const auto& [what, count] = items[i];
    why += fmt::format("{}{}{}{} ({})", i == 0 ? "" : ", ", what.first,
                       what.second.empty() ? "" : " of ", what.second, count);
  }
  to.kind = pools.Intern(items[0].first.first);
  if (!items[0].first.second.empty()) to.source = pools.Intern(items[0].first.second);
  to.why = pools.Intern(why);
}

Group NewGroup(const CompilationTable& rows, size_t at) {
  Group group;
  group.row = RowLike<CompileFrameGroupRow>(rows, at);
  group.row.function = rows.function[at];
  group.row.file = rows.file[at];
  group.row.line = rows.line[at];
  group.row.compilations = group.row.recompilations = group.row.failures = 0;
  group.row.restarts = group.row.unfinished = 0;
  return group;
}

// Entries without a compile id. Dynamo compiles one frame at a time on a thread, so what a thread
// logs between the first entry of a compilation and its metrics belongs to that one.
enum class Kind : uint8_t { kOther, kMetrics, kEvent };

Kind KindOf(std::string_view kind) {
  if (kind.ends_with("compilation_metrics") || kind.ends_with("compilation_metrics_runtime"))
    return Kind::kMetrics;
  return kind == "chromium_event" ? Kind::kEvent : Kind::kOther;
}

class OrphanFinder : EntryPass {
 public:
  OrphanFinder(const Model& model, Part& part)
      : EntryPass(model, part), rows_(part.tables.Edit<CompileOrphanTable>()) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      const Kind kind = kind_of_(entries_.kind[row]);
      // Runtime events carry ids of compilations that ended long ago: they open none.
      if (kind == Kind::kEvent) continue;
      const bool has_id = has_id_(entries_.compile_id[row]);
      StringId& open = Open(row);
      if (!has_id) {
        Add(row, open);
      } else {
        open = kind == Kind::kMetrics ? StringId::kNone : entries_.compile_id[row];
      }
    }
  }

 private:
  using Thread = std::tuple<int32_t, int32_t, int32_t, int64_t>;  // input, rank, life, thread

  StringId& Open(size_t row) {
    const Thread thread(entries_.input[row], entries_.rank[row], entries_.life[row],
                        entries_.thread[row]);
    if (last_ == nullptr || thread != last_thread_) {
      last_ = &open_.try_emplace(thread, StringId::kNone).first->second;
      last_thread_ = thread;
    }
    return *last_;
  }

  void Add(size_t at, StringId open) {
    auto row = RowOfEntry<CompileOrphanRow>(entries_, at);
    row.kind = texts_(entries_.kind[at]);
    row.name = texts_(entries_.name[at]);
    row.inferred_compile_id = texts_(open);
    rows_.Add(row);
  }

  CompileOrphanTable& rows_;
  AskOnce<Kind> kind_of_{model_.pools, KindOf};
  AskOnce<bool> has_id_{model_.pools,
                        [](std::string_view id) { return !id.empty() && id != "-/-"; }};
  std::map<Thread, StringId> open_;
  Thread last_thread_;
  StringId* last_ = nullptr;
};

}  // namespace

Status AddCompilations(const Compilations& compilations, const std::vector<MainChange>& changes,
                       Part& part) {
  CompilationWriter writer(compilations, part);
  for (size_t i = 0; i < changes.size(); ++i) TRY(writer.Add(static_cast<int32_t>(i), changes[i]));
  return {};
}

void AddFrameGroups(const Compilations& compilations, const std::vector<MainChange>& changes,
                    Part& part) {
  const auto& rows = part.tables.Get<CompilationTable>();
  const auto& recompiles = part.tables.Get<CompileRecompileTable>();
  std::vector<Group> groups;
  std::map<std::tuple<int32_t, StringId, StringId, int32_t>, size_t> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Compilation& of = compilations.all()[i];
    auto [found, is_new] = places.try_emplace(
        std::tuple(of.process, rows.file[i], rows.function[i], rows.line[i]), groups.size());
    if (is_new) groups.push_back(NewGroup(rows, i));
    Group& group = groups[found->second];
    Count(rows, i, changes[i].row != kNoRow, group);
    group.row.failures += of.outcome == "failed";
    group.row.unfinished += of.outcome == "unfinished";
    if (changes[i].row == kNoRow) continue;
    ++group.changes[{part.pools.Text(recompiles.kind[changes[i].row]),
                     part.pools.Text(recompiles.source[changes[i].row])}];
  }
  auto& table = part.tables.Edit<CompileFrameGroupTable>();
  for (Group& group : groups) {
    Explain(group, part.pools);
    group.row.frames =
        part.pools.lists.Intern(std::vector<int64_t>(group.frames.begin(), group.frames.end()));
    table.Add(group.row);
  }
}

void AddOrphans(const Model& model, Part& part) { OrphanFinder(model, part).Run(); }

}  // namespace debrief::analyses::compile_recompiles
