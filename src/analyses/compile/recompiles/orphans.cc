// Entries without a compile id. Dynamo compiles one frame at a time on a thread, so what a thread
// logs between the first entry of a compilation and its metrics belongs to that one.
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/compile/recompiles/compile_tables.h"
#include "tables/compile_orphan.h"

namespace debrief::analyses::compile_recompiles {

namespace {

enum class Kind : uint8_t { kOther, kMetrics, kEvent };

class OrphanFinder {
 public:
  OrphanFinder(const Model& model, Part& part)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        pools_(part.pools),
        rows_(part.tables.Edit<CompileOrphanTable>()) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      const Kind kind = KindOf(entries_.kind[row]);
      // Runtime events carry ids of compilations that ended long ago: they open none.
      if (kind == Kind::kEvent) continue;
      const bool has_id = HasId(entries_.compile_id[row]);
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

  Kind KindOf(StringId kind) {
    auto [found, is_new] = kinds_.try_emplace(kind, Kind::kOther);
    if (!is_new) return found->second;
    const std::string_view text = model_.pools.Text(kind);
    if (text.ends_with("compilation_metrics") || text.ends_with("compilation_metrics_runtime"))
      found->second = Kind::kMetrics;
    if (text == "chromium_event") found->second = Kind::kEvent;
    return found->second;
  }

  bool HasId(StringId id) {
    if (id == StringId::kNone) return false;
    auto [found, is_new] = has_id_.try_emplace(id, true);
    if (is_new) found->second = model_.pools.Text(id) != "-/-";
    return found->second;
  }

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
    CompileOrphanRow row;
    row.job = entries_.job[at];
    row.attempt = entries_.attempt[at];
    row.rank = entries_.rank[at];
    row.input = entries_.input[at];
    row.entry = entries_.entry[at];
    row.kind = Copy(entries_.kind[at]);
    row.name = Copy(entries_.name[at]);
    row.inferred_compile_id = Copy(open);
    rows_.Add(row);
  }

  StringId Copy(StringId id) {
    return id == StringId::kNone ? id : pools_.Intern(model_.pools.Text(id));
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  Pools& pools_;
  CompileOrphanTable& rows_;
  std::unordered_map<StringId, Kind> kinds_;
  std::unordered_map<StringId, bool> has_id_;
  std::map<Thread, StringId> open_;
  Thread last_thread_;
  StringId* last_ = nullptr;
};

}  // namespace

void AddOrphans(const Model& model, Part& part) { OrphanFinder(model, part).Run(); }

}  // namespace debrief::analyses::compile_recompiles
