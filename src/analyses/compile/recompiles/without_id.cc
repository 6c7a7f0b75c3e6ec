#include "analyses/compile/recompiles/without_id.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_phase.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::compile_recompiles {

namespace {

constexpr std::string_view kNoId = "-/-";
constexpr std::string_view kProgram = "a program by torch.export";

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPhases = {
    {{"fullgraph_capture", kProgram}, {"compile_fx_aot", "a graph for AOTInductor"}}};

std::string_view CompiledIn(std::string_view phase) {
  for (const auto& [name, what] : kPhases) {
    if (name == phase) return what;
  }
  return {};
}

bool IsExportFile(std::string_view file) { return Contains(file, "torch/export/"); }

class Finder {
 public:
  explicit Finder(const Model& model)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        metrics_(model.tables.Get<CompileMetricsTable>()) {}

  std::vector<WithoutId> Run() {
    AddPhases();
    // What stands before a phase may belong to it: its place must be known first.
    ForEachEntry([&](size_t row) { PlacePhase(row); });
    for (size_t i = 0; i < found_.size(); ++i) {
      const Compilation& of = found_[i].compilation;
      if (of.what == kProgram) programs_.try_emplace({found_[i].process, of.code}, i);
    }
    ForEachEntry([&](size_t row) { NoteProgram(row); });
    AddMetrics();
    for (WithoutId& one : found_) FillIn(one);
    std::ranges::stable_sort(found_, {}, [](const WithoutId& one) {
      return std::pair(one.process, one.compilation.first_entry);
    });
    return std::move(found_);
  }

 private:
  void AddPhases() {
    const auto& phases = model_.tables.Get<CompilePhaseTable>();
    for (size_t row = 0; row < phases.size(); ++row) {
      if (phases.compile_id[row] != StringId::kNone || phases.depth[row] != 0) continue;
      const std::string_view what = compiled_in_(phases.name[row]);
      if (what.empty()) continue;
      const ProcessKey process = debrief::ProcessOf(phases, row);
      phases_.try_emplace({process, phases.entry[row]}, found_.size());
      Compilation& made = Add(process, what, phases.entry[row], phases.start_ns[row]);
      made.end_ns = phases.end_ns[row];
      made.took_ns = made.end_ns - made.start_ns;
      made.ends_log = phases.open[row] != 0;
    }
  }

  Compilation& Add(const ProcessKey& process, std::string_view what, int64_t entry,
                   int64_t time_ns) {
    Compilation& made =
        found_.emplace_back(WithoutId{.process = process, .compilation = {}}).compilation;
    made.id = kNoId;
    made.what = what;
    made.first_entry = made.last_entry = entry;
    made.start_ns = made.end_ns = time_ns;
    return made;
  }

  template <typename Visit>
  void ForEachEntry(Visit visit) {
    for (size_t row = 0; row < entries_.size(); ++row) {
      if (entries_.entry_stack[row] != StackId::kNone && has_no_id_(entries_.compile_id[row]))
        visit(row);
    }
  }

  // The last phase of the process that began before the entry.
  WithoutId* PhaseBefore(size_t row) {
    const ProcessKey process = debrief::ProcessOf(entries_, row);
    auto behind = phases_.upper_bound({process, entries_.entry[row]});
    if (behind == phases_.begin() || (--behind)->first.first != process) return nullptr;
    return &found_[behind->second];
  }

  void PlacePhase(size_t row) {
    WithoutId* phase = PhaseBefore(row);
    if (phase == nullptr || phase->compilation.end_ns < entries_.time_ns[row]) return;
    Compilation& of = phase->compilation;
    of.last_entry = entries_.entry[row];
    if (of.code.line != kNone32) return;
    const std::optional<Place> caller = CallerOfExport(row);
    of.code = caller ? *caller : InnermostOfUser(row);
  }

  void NoteProgram(size_t row) {
    const std::optional<Place> caller = CallerOfExport(row);
    if (!caller) return;
    const ProcessKey process = debrief::ProcessOf(entries_, row);
    auto [at, is_new] = programs_.try_emplace({process, *caller}, found_.size());
    if (is_new) Add(process, kProgram, entries_.entry[row], entries_.time_ns[row]).code = *caller;
    WithoutId& program = found_[at->second];
    Compilation& of = program.compilation;
    of.last_entry = std::max(of.last_entry, entries_.entry[row]);
    if (of.took_ns == kNone64) of.end_ns = entries_.time_ns[row];
    if (Text(entries_.name[row]) == "make_fx_fail_partial") program.stopped = row;
  }

  void AddMetrics() {
    EntryCursor cursor(entries_);
    for (size_t row = 0; row < metrics_.size(); ++row) {
      if (!has_no_id_(metrics_.compile_id[row])) continue;
      const size_t entry = cursor.Find(metrics_.input[row], metrics_.entry[row]);
      if (entry == kNoRow || Text(metrics_.kind[row]).ends_with("_runtime")) continue;
      WithoutId* phase = PhaseBefore(entry);
      if (phase != nullptr && phase->compilation.metrics == kNoRow) {
        phase->compilation.metrics = row;
      } else if (metrics_.fail_type[row] != StringId::kNone) {
        Compilation& made = Add(debrief::ProcessOf(entries_, entry), "a graph without a compile id",
                                entries_.entry[entry], entries_.time_ns[entry]);
        made.metrics = row;
        made.code = InnermostOfUser(entry);
      }
    }
  }

  void FillIn(WithoutId& one) {
    Compilation& of = one.compilation;
    of.user = of.caller = of.code;
    of.ends_log &= of.metrics == kNoRow;
    const bool failed = of.metrics != kNoRow && metrics_.fail_type[of.metrics] != StringId::kNone;
    if (one.stopped != kNoRow) SetStop(one.stopped, of);
    of.outcome = failed || one.stopped != kNoRow ? "failed"
                 : of.ends_log                   ? "unfinished"
                 : of.took_ns == kNone64         ? "unknown"
                                                 : "ok";
  }

  // The last line that the graph has nodes of: "# File: /home/user/model.py:30 in forward, code:
  // ..."
  void SetStop(size_t row, Compilation& of) {
    std::string graph;
    if (!ReadPayload(model_, entries_, row, graph).ok()) return;
    constexpr std::string_view kFile = "# File: ";
    const size_t at = graph.rfind(kFile);
    if (at == std::string::npos) return;
    std::string_view where = FirstLine(std::string_view(graph).substr(at + kFile.size()));
    where = where.substr(0, where.find(" in "));
    const size_t colon = where.rfind(':');
    if (colon == std::string_view::npos) return;
    of.stop_file = where.substr(0, colon);
    of.stop_line = LeadingNumber(where.substr(colon + 1), kNone32);
  }

  Place InnermostOfUser(size_t row) {
    for (FrameId id : model_.pools.GetStack(entries_.entry_stack[row])) {
      const Frame& frame = model_.pools.GetFrame(id);
      if (is_user_file_(frame.file)) return {.file = frame.file, .line = frame.line};
    }
    return {};
  }

  // The user's frame outwards of the outermost one of torch.export; none without such a frame.
  std::optional<Place> CallerOfExport(size_t row) {
    const std::span<const FrameId> frames = model_.pools.GetStack(entries_.entry_stack[row]);
    Place caller;
    for (size_t i = frames.size(); i-- > 0;) {
      const Frame& frame = model_.pools.GetFrame(frames[i]);
      if (is_export_file_(frame.file)) return caller;
      if (is_user_file_(frame.file)) caller = {.file = frame.file, .line = frame.line};
    }
    return std::nullopt;
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  const Model& model_;
  const CompileEntryTable& entries_;
  const CompileMetricsTable& metrics_;
  std::vector<WithoutId> found_;
  std::map<std::pair<ProcessKey, int64_t>, size_t> phases_;  // process and first entry
  std::map<std::pair<ProcessKey, Place>, size_t> programs_;  // process and the line that called
  AskOnce<bool> has_no_id_{model_.pools, [](std::string_view id) { return id == kNoId; }};
  AskOnce<std::string_view> compiled_in_{model_.pools, CompiledIn};
  AskOnce<bool> is_user_file_{model_.pools, IsUserFile};
  AskOnce<bool> is_export_file_{model_.pools, IsExportFile};
};

}  // namespace

std::vector<WithoutId> FindWithoutId(const Model& model) { return Finder(model).Run(); }

}  // namespace debrief::analyses::compile_recompiles
