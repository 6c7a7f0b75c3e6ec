// Do the compilation caches work? An artifact <cache>_hit, _miss or _bypass is one answer; its JSON
// tells the key, the reason and the time.
//
//   {"key": "fhwvaq...", "components": [60 KB], "cache_event_time": ns, "cache_state": "miss",
//    "time_taken_ns": 633931887, ...}              a hit has "time_saved_ns" or "time_saved_ms"
//
// Nearly all of it is `components`, what the key was made of, between the keys that are wanted: it
// is skipped by its brackets and never looked into. Cost: one pass over these bytes to find the
// brackets, and a walk over what was found.
#include "analyses/compile/caches/caches.h"

#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "model/compile/payload.h"
#include "tables/compile_cache_total.h"
#include "tables/compile_cache_use.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::compile_caches {

namespace {

// Compiling on one rank takes no longer; what claims to is broken.
constexpr double kMostSeconds = 1e8;

double Scaled(JsonValue value, double scale) {
  const double seconds = value.Double().value_or(kNoDouble) * scale;
  return seconds >= 0 && seconds < kMostSeconds ? seconds : kNoDouble;
}

struct Name {
  std::string_view cache;
  std::string_view status;
  bool is_answer = false;
};

Name NameOf(std::string_view artifact) {
  Name name;
  name.is_answer = SplitName(artifact, name.cache, name.status);
  return name;
}

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      if (entries_.name[row] == StringId::kNone) continue;
      const Name& name = names_(entries_.name[row]);
      if (name.is_answer && Text(entries_.kind[row]) == "artifact" &&
          Text(entries_.state[row]) == "read")
        Add(row, name);
    }
    for (const auto& [key, total] : totals_) part_.tables.Edit<CompileCacheTotalTable>().Add(total);
  }

 private:
  void Add(size_t row, const Name& name) {
    auto made = RowOfEntry<CompileCacheUseRow>(entries_, row);
    made.compile_id = texts_(entries_.compile_id[row]);
    made.cache = part_.pools.Intern(name.cache);
    made.status = part_.pools.Intern(name.status);
    Read(row, made);
    if (made.asked_ns == kNone64) made.asked_ns = entries_.time_ns[row];
    const bool known =
        made.key != StringId::kNone &&
        !seen_.emplace(made.input, made.rank, entries_.life[row], made.cache, made.key).second;
    made.again = known && name.status == "miss";
    part_.tables.Edit<CompileCacheUseTable>().Add(made);
    AddToTotal(made, name.status);
  }

  // An answer that cannot be read is still an answer: its name tells it.
  void Read(size_t row, CompileCacheUseRow& made) {
    auto lines = PayloadLines(model_, entries_, row);
    if (!lines.ok() || !reader_.Open(lines.value().text()).ok()) return;
    Status status = reader_.root().ForEachField(
        [&](std::string_view key, JsonValue value) { ReadField(key, value, made); });
    static_cast<void>(status);  // what was read before the text broke is true
  }

  void ReadField(std::string_view key, JsonValue value, CompileCacheUseRow& made) {
    if (key == "components") return;
    const bool is_text = value.kind() == JsonKind::kString;
    auto text = [&] { return texts_(value.String().value_or("")); };
    if (key == "key" && is_text) made.key = text();
    if (key == "cache_status_detailed" && is_text) made.detail = text();
    if (key == "cache_bypass_reason" && is_text) made.reason = text();
    if (key == "cache_event_time") made.asked_ns = value.Int().value_or(kNone64);
    if (key == "time_saved_ns") made.saved_s = Scaled(value, 1e-9);
    if (key == "time_saved_ms") made.saved_s = Scaled(value, 1e-3);
    if (key == "time_taken_ns") made.spent_s = Scaled(value, 1e-9);
  }

  void AddToTotal(const CompileCacheUseRow& use, std::string_view status) {
    auto [at, is_new] = totals_.try_emplace({use.job, use.attempt, use.rank, use.cache});
    CompileCacheTotalRow& total = at->second;
    if (is_new) {
      total = Part::RowOf<CompileCacheTotalRow>(
          {.job = use.job, .attempt = use.attempt, .rank = use.rank});
      total.cache = use.cache;
      total.uses = total.hits = total.misses = total.bypasses = total.again = 0;
      total.saved_s = total.spent_s = 0;
    }
    ++total.uses;
    if (status == "hit") ++total.hits;
    if (status == "miss") ++total.misses;
    if (status == "bypass") ++total.bypasses;
    if (use.again) ++total.again;
    if (use.saved_s > 0) total.saved_s += use.saved_s;
    if (use.spent_s > 0) total.spent_s += use.spent_s;
  }

  JsonReader reader_;
  AskOnce<Name> names_{model_.pools, NameOf};
  std::set<std::tuple<int32_t, int32_t, int32_t, StringId, StringId>> seen_;
  std::map<std::tuple<int32_t, int32_t, int32_t, StringId>, CompileCacheTotalRow> totals_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Collector(model, result.part).Run();
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

bool SplitName(std::string_view artifact, std::string_view& cache, std::string_view& status) {
  for (std::string_view end : {"_hit", "_miss", "_bypass"}) {
    if (!artifact.ends_with(end)) continue;
    cache = artifact.substr(0, artifact.size() - end.size());
    status = end.substr(1);
    return cache.ends_with("cache");
  }
  return false;
}

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_caches",
               .sentence = "Do the compilation caches work, and what do they save?",
               .example = "Rank 3 missed 4 keys of fx_graph_cache again that it had asked for "
                          "before (12.5 s)",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileCacheUseTable, CompileCacheTotalTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_caches
