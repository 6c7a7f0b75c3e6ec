#include <utility>

#include "analyses/join/regions/regions.h"
#include "model/compile/frames.h"
#include "model/compile/payload.h"

namespace debrief::analyses::join_regions {

namespace {

constexpr std::string_view kKernelPath = "# kernel path: ";

}  // namespace

std::string_view StemOf(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

void CompiledNames::Find(const Model& model) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  for (size_t row = 0; row < entries.size(); ++row) {
    auto wanted = wanted_.find({entries.job[row], entries.attempt[row], entries.rank[row]});
    if (wanted != wanted_.end() && !wanted->second.empty()) Look(model, row, wanted->second);
  }
}

void CompiledNames::Look(const Model& model, size_t row,
                         std::set<std::string, std::less<>>& wanted) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const std::string_view kind = model.pools.Text(entries.kind[row]);
  const bool cache =
      kind == "artifact" && model.pools.Text(entries.name[row]).starts_with("fx_graph_cache_");
  if (!cache && kind != "inductor_output_code") return;
  auto lines = PayloadLines(model, entries, row);
  if (!lines.ok()) return;
  const RankKey rank{entries.job[row], entries.attempt[row], entries.rank[row]};
  const std::string_view id = WithoutAttempt(model.pools.Text(entries.compile_id[row]));
  std::string_view text = lines.value().text();
  if (cache) {
    if (!reader_.Open(text).ok()) return;
    // A payload that breaks behind its key has told what it had to.
    static_cast<void>(reader_.root().ForEachField([&](std::string_view key, JsonValue value) {
      if (key != "key") return true;
      if (auto name = value.String()) Keep(rank, wanted, *name, id);
      return false;
    }));
    return;
  }
  for (size_t at = text.find(kKernelPath); at != std::string_view::npos;
       at = text.find(kKernelPath, at)) {
    at += kKernelPath.size();
    Keep(rank, wanted, StemOf(text.substr(at, text.find('\n', at) - at)), id);
  }
}

// The first compilation that has a name keeps it: a later one found it in a cache.
void CompiledNames::Keep(const RankKey& rank, std::set<std::string, std::less<>>& wanted,
                         std::string_view name, std::string_view compile_id) {
  auto found = wanted.find(name);
  if (found == wanted.end()) return;
  compile_ids_.emplace(std::pair(rank, *found), compile_id);
  wanted.erase(found);
}

std::string_view CompiledNames::CompileIdOf(const RankKey& rank, std::string_view name) const {
  auto found = compile_ids_.find({rank, std::string(name)});
  return found == compile_ids_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace debrief::analyses::join_regions
