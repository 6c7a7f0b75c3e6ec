#include "analyses/compile/time/phases.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analyses/compile/rows.h"
#include "tables/compile_event.h"

namespace debrief::analyses::compile_time {

namespace {

struct Rule {
  std::string_view prefix;
  Area area;
};

// The first that fits counts.
constexpr std::array kRules = {
    Rule{"dynamo", Area::kDynamo},
    Rule{"entire_frame_compile", Area::kDynamo},
    Rule{"compile_attempt_", Area::kDynamo},
    Rule{"bytecode_tracing", Area::kDynamo},
    Rule{"build_guards", Area::kDynamo},
    Rule{"gc", Area::kDynamo},
    Rule{"insert_deferred_runtime_asserts", Area::kDynamo},
    Rule{"pgo.", Area::kDynamo},
    Rule{"compiled_autograd", Area::kDynamo},
    Rule{"backend_compile", Area::kAot},
    Rule{"entire_backward_compile", Area::kAot},
    Rule{"create_aot_dispatcher_function", Area::kAot},
    Rule{"aot_", Area::kAot},
    Rule{"min_cut_rematerialization_partition", Area::kAot},
    Rule{"AOTAutogradCache", Area::kAot},
    Rule{"compile_fx.<locals>.", Area::kAot},
    Rule{"inductor_", Area::kInductor},
    Rule{"fx_codegen_and_compile", Area::kInductor},
    Rule{"_recursive_", Area::kInductor},
    Rule{"pass.", Area::kInductor},
    Rule{"additional_fake_tensor_prop", Area::kInductor},
    Rule{"GraphLowering.run", Area::kInductor},
    Rule{"GraphLowering.", Area::kCodegen},
    Rule{"code_gen", Area::kCodegen},
    Rule{"Scheduler.", Area::kCodegen},
    Rule{"PythonWrapperCodegen.", Area::kCodegen},
    Rule{"generate_kernel_code", Area::kCodegen},
    Rule{"PyCodeCache.", Area::kTriton},
    Rule{"async_compile", Area::kTriton},
    Rule{"CachingAutotuner", Area::kTriton},
    Rule{"StaticAutotuner", Area::kTriton},
    Rule{"TritonBundler", Area::kTriton},
    Rule{"benchmark_", Area::kTriton},
    Rule{"compile_file", Area::kTriton},
};

using TrackKey = std::tuple<Process, int64_t, bool>;  // thread, names a compilation

struct Track {
  std::vector<size_t> open;                  // positions of phases, innermost last
  std::unordered_map<StringId, int> counts;  // of open phases by name
};

class Pairing {
 public:
  explicit Pairing(const Model& model)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        events_(model.tables.Get<CompileEventTable>()) {}

  std::vector<Phase> Run() {
    phases_.reserve(events_.size() / 2 + 1);
    FindLastTimes();
    for (size_t row : InOrder()) Look(row);
    for (auto& [key, track] : tracks_) {
      const int64_t last = last_ns_[std::get<0>(key)];
      while (!track.open.empty()) Close(track, track.open.size() - 1, last);
    }
    return std::move(phases_);
  }

 private:
  // Events whose payload lay between those of other ranks and was put together again stand behind
  // all others, and what was made of it before is no event.
  std::vector<size_t> InOrder() const {
    std::vector<size_t> rows(events_.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    auto place = [&](size_t row) { return std::pair(events_.input[row], events_.entry[row]); };
    if (std::ranges::is_sorted(rows, {}, place)) return rows;
    std::ranges::stable_sort(rows, {}, place);
    std::vector<size_t> last;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + 1 == rows.size() || place(rows[i]) != place(rows[i + 1])) last.push_back(rows[i]);
    }
    return last;
  }

  // Until when each process wrote.
  void FindLastTimes() {
    Process last_key = {kNone32, kNone32, kNone32};
    int64_t* last = nullptr;
    for (size_t row = 0; row < entries_.size(); ++row) {
      const Process key = ProcessOf(entries_, row);
      if (last == nullptr || key != last_key)
        last = &last_ns_.try_emplace(key, kNone64).first->second;
      last_key = key;
      *last = std::max(*last, entries_.time_ns[row]);
    }
  }

  void Look(size_t row) {
    if (events_.time_ns[row] == kNone64) return;
    const std::string_view phase = model_.pools.Text(events_.phase[row]);
    if (phase != "B" && phase != "E" && phase != "X") return;
    const size_t entry = cursor_.Find(events_.input[row], events_.entry[row]);
    const bool known = entry != kNoRow;
    const int32_t life = known ? entries_.life[entry] : 0;
    const std::string_view id = model_.pools.Text(events_.compile_id[row]);
    const bool named = !id.empty() && id != "-/-";
    const Process process(events_.input[row], events_.rank[row], life);
    Track& track = tracks_[{process, known ? entries_.thread[entry] : 0, named}];
    int64_t& last = last_ns_.try_emplace(process, kNone64).first->second;
    last = std::max(last, events_.time_ns[row]);
    if (phase == "E") return End(row, entry, track);
    const size_t made = Begin(row, track, life, named);
    if (phase == "X") return Complete(row, entry, made);
    if (track.open.size() >= kMostDepth) return;
    track.open.push_back(made);
    ++track.counts[events_.name[row]];
  }

  size_t Begin(size_t row, Track& track, int32_t life, bool named) {
    Phase phase;
    phase.who = IdentityOf(events_, row);
    phase.life = life;
    phase.entry = events_.entry[row];
    if (named) phase.compile_id = events_.compile_id[row];
    phase.name = events_.name[row];
    phase.start_ns = phase.end_ns = events_.time_ns[row];
    phase.depth = static_cast<int32_t>(track.open.size());
    phase.parent = track.open.empty() ? kNoRow : track.open.back();
    phase.area = area_of_(phase.name);
    if (phase.area == Area::kOther && phase.parent != kNoRow)
      phase.area = phases_[phase.parent].area;
    auto count = track.counts.find(phase.name);
    phase.inside_same = count != track.counts.end() && count->second > 0;
    phases_.push_back(phase);
    return phases_.size() - 1;
  }

  void End(size_t row, size_t entry, Track& track) {
    auto count = track.counts.find(events_.name[row]);
    if (count == track.counts.end() || count->second == 0) return;  // it began before the log
    size_t at = track.open.size() - 1;
    while (phases_[track.open[at]].name != events_.name[row]) --at;
    Phase& phase = phases_[track.open[at]];
    phase.open = false;
    phase.end_row = entry;
    Close(track, at, events_.time_ns[row]);
  }

  void Complete(size_t row, size_t entry, size_t made) {
    phases_[made].open = false;
    phases_[made].end_row = entry;
    SetEnd(made, AddTimes(phases_[made].start_ns, std::max<int64_t>(events_.duration_ns[row], 0)));
  }

  void Close(Track& track, size_t at, int64_t end_ns) {
    const size_t position = track.open[at];
    --track.counts[phases_[position].name];
    track.open.erase(track.open.begin() + static_cast<ptrdiff_t>(at));
    SetEnd(position, end_ns);
  }

  void SetEnd(size_t position, int64_t end_ns) {
    Phase& phase = phases_[position];
    int64_t took = 0;
    if (end_ns < phase.start_ns || __builtin_sub_overflow(end_ns, phase.start_ns, &took)) took = 0;
    phase.end_ns = phase.start_ns + took;
    phase.closed = true;
    phase.self_ns = std::max<int64_t>(0, AddTimes(phase.self_ns, took));
    if (phase.parent == kNoRow) return;
    Phase& parent = phases_[phase.parent];
    // The parent's own time is negative until its end is known.
    if (!parent.closed) parent.self_ns = AddTimes(parent.self_ns, -took);
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  const CompileEventTable& events_;
  std::vector<Phase> phases_;
  std::map<TrackKey, Track> tracks_;
  std::map<Process, int64_t> last_ns_;
  AskOnce<Area> area_of_{model_.pools, AreaOf};
  EntryCursor cursor_{entries_};
};

}  // namespace

std::string_view AreaName(Area area) {
  constexpr std::array<std::string_view, kAreas> kNames = {"other",    "dynamo",  "aot",
                                                           "inductor", "codegen", "triton"};
  return kNames[static_cast<size_t>(area)];
}

Area AreaOf(std::string_view phase) {
  for (const Rule& rule : kRules) {
    if (phase.starts_with(rule.prefix)) return rule.area;
  }
  // mm_template_precompiling, bmm_template_autotuning
  return phase.find("_template_") != std::string_view::npos ? Area::kTriton : Area::kOther;
}

std::vector<Phase> FindPhases(const Model& model) { return Pairing(model).Run(); }

}  // namespace debrief::analyses::compile_time
