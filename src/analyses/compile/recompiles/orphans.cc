// Entries without a compile id. Dynamo compiles one frame at a time on a thread, so what a thread
// logs between the first entry of a compilation and its metrics belongs to that one.
#include <map>
#include <tuple>

#include "analyses/compile/recompiles/recompiles.h"
#include "analyses/compile/rows.h"
#include "tables/compile_orphan.h"

namespace debrief::analyses::compile_recompiles {

namespace {

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

void AddOrphans(const Model& model, Part& part) { OrphanFinder(model, part).Run(); }

}  // namespace debrief::analyses::compile_recompiles
