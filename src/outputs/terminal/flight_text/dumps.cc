#include "outputs/terminal/flight_text/dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/text/safe_name.h"
#include "outputs/terminal/flight_text/tabulate.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

namespace {

// The last dump of each rank, in the order in which ranks are to be taken.
std::vector<std::pair<int32_t, size_t>> ChooseDumps(const Model& model,
                                                    const LoadOptions& options) {
  const auto& dumps = model.tables.Get<CommDumpTable>();
  std::map<int32_t, size_t> by_rank;
  for (size_t i = 0; i < dumps.size(); ++i) {
    if (dumps.job[i] == options.job && dumps.attempt[i] == options.attempt && dumps.rank[i] >= 0)
      by_rank[dumps.rank[i]] = i;
  }
  std::vector<std::pair<int32_t, size_t>> chosen;
  for (int32_t rank : options.rank_order) {
    auto found = by_rank.find(rank);
    if (found == by_rank.end()) continue;
    chosen.emplace_back(*found);
    by_rank.erase(found);
  }
  chosen.insert(chosen.end(), by_rank.begin(), by_rank.end());
  return chosen;
}

std::vector<int32_t> MembersOf(const Model& model, size_t row, const LoadOptions& options) {
  const auto& groups = model.tables.Get<CommGroupTable>();
  int64_t first = 0;
  if (options.transform_ft && options.group_world_size > 0 &&
      model.pools.Text(groups.description[row]) == "default_pg")
    first = groups.rank[row] / options.group_world_size * options.group_world_size;
  std::vector<int32_t> members;
  for (int64_t rank : model.pools.lists.Get(groups.members[row])) {
    int64_t global = rank + first;
    if (global >= 0 && global <= std::numeric_limits<int32_t>::max())
      members.push_back(static_cast<int32_t>(global));
  }
  return members;
}

Status AddGroup(const Model& model, size_t row, int32_t rank, const LoadOptions& options,
                std::map<std::string, int32_t>& by_key, Dumps& dumps) {
  const auto& groups = model.tables.Get<CommGroupTable>();
  DumpGroup group;
  group.name = model.pools.Text(groups.name[row]);
  group.desc = model.pools.Text(groups.description[row]);
  group.ranks = MembersOf(model, row, options);
  group.key = fmt::format("{}{}", Printable(group.name), HashOfRanks(group.ranks));
  auto [known, is_new] = by_key.try_emplace(group.key, static_cast<int32_t>(dumps.groups.size()));
  dumps.group_of[{group.name, rank}] = known->second;
  if (!is_new) {
    const DumpGroup& first = dumps.groups[static_cast<size_t>(known->second)];
    if (first.desc == group.desc || !options.strict) return {};
    return PythonError("AssertionError",
                       fmt::format("mismatch in desc {} vs {} for group {}", Printable(first.desc),
                                   Printable(group.desc), group.key));
  }
  group.members = PythonSet(group.ranks);
  std::sort(group.ranks.begin(), group.ranks.end());
  dumps.groups.push_back(std::move(group));
  return {};
}

// Rows of a table by input, since dumps are looked up by theirs.
template <typename Table>
std::map<int32_t, std::vector<size_t>> RowsByInput(const Table& table) {
  std::map<int32_t, std::vector<size_t>> rows;
  for (size_t i = 0; i < table.size(); ++i) rows[table.input[i]].push_back(i);
  return rows;
}

void Align(Dumps& dumps) {
  int32_t first = 0;
  for (const RankDump& dump : dumps.ranks) {
    if (!dump.entries.empty()) first = std::max(first, dump.entries.front().record);
  }
  for (RankDump& dump : dumps.ranks) {
    std::erase_if(dump.entries, [&](const Entry& entry) { return entry.record < first; });
  }
}

}  // namespace

std::vector<std::pair<int32_t, int32_t>> AttemptsWithDumps(const Model& model) {
  const auto& dumps = model.tables.Get<CommDumpTable>();
  std::set<std::pair<int32_t, int32_t>> attempts;
  for (size_t i = 0; i < dumps.size(); ++i) attempts.emplace(dumps.job[i], dumps.attempt[i]);
  return {attempts.begin(), attempts.end()};
}

Result<Dumps> LoadDumps(const Model& model, const LoadOptions& options) {
  const auto& table = model.tables.Get<CommDumpTable>();
  auto group_rows = RowsByInput(model.tables.Get<CommGroupTable>());
  auto op_rows = RowsByInput(model.tables.Get<CommOpTable>());
  Dumps dumps;
  dumps.job = options.job;
  dumps.attempt = options.attempt;
  std::map<std::string, int32_t> by_key;
  for (auto [rank, row] : ChooseDumps(model, options)) {
    RankDump dump{.rank = rank, .version = model.pools.Text(table.version[row]), .entries = {}};
    if (dumps.ranks.empty()) dumps.version = dump.version;
    if (dump.version != dumps.version && options.strict) {
      return PythonError("AssertionError",
                         fmt::format("Rank {} has different version {} from the given version {}",
                                     rank, Printable(dump.version), Printable(dumps.version)));
    }
    for (size_t group : group_rows[table.input[row]])
      TRY(AddGroup(model, group, rank, options, by_key, dumps));
    for (size_t op : op_rows[table.input[row]]) {
      Entry& entry = dump.entries.emplace_back(ReadEntry(model, op));
      auto group = dumps.group_of.find({entry.group_name, rank});
      if (group != dumps.group_of.end()) entry.group = group->second;
    }
    dumps.ranks.push_back(std::move(dump));
  }
  if (options.align) Align(dumps);
  return dumps;
}

int64_t HashOfRanks(const std::vector<int32_t>& ranks) {
  std::set<int32_t> distinct(ranks.begin(), ranks.end());
  uint64_t hash = 0;
  for (int32_t rank : distinct) {
    auto h = static_cast<uint64_t>(rank);
    hash ^= (h ^ 89869747U ^ (h << 16)) * 3644798167U;
  }
  hash ^= (static_cast<uint64_t>(distinct.size()) + 1) * 1927868237U;
  hash ^= (hash >> 11) ^ (hash >> 25);
  hash = hash * 69069U + 907133923U;
  if (hash == std::numeric_limits<uint64_t>::max()) hash = 590923713U;
  return static_cast<int64_t>(hash);
}

Status CheckNoneMissing(const Dumps& dumps) {
  PythonSet all;
  PythonSet present;
  for (const DumpGroup& group : dumps.groups) {
    for (int32_t rank : group.ranks) all.Add(rank);
  }
  for (const RankDump& dump : dumps.ranks) present.Add(dump.rank);
  PythonSet missing = Minus(all, present);
  if (missing.empty()) return {};
  return PythonError("AssertionError",
                     fmt::format("Missing dump files from ranks {}", missing.Text()));
}

std::string FramesAsPython(const Model& model, StackId stack) {
  std::string text;
  for (FrameId id : model.pools.GetStack(stack)) {
    const Frame& frame = model.pools.GetFrame(id);
    text += fmt::format("{}{{'name': {}, 'filename': {}, 'line': {}}}", text.empty() ? "" : ", ",
                        PythonText(model.pools.Text(frame.function)),
                        PythonText(model.pools.Text(frame.file)), frame.line);
  }
  return "[" + text + "]";
}

std::string FramesAsLines(const Model& model, StackId stack) {
  std::string text;
  for (FrameId id : model.pools.GetStack(stack)) {
    const Frame& frame = model.pools.GetFrame(id);
    text += fmt::format("{}{} at {}:{}", text.empty() ? "" : "\n",
                        Printable(model.pools.Text(frame.function)),
                        Printable(model.pools.Text(frame.file)), frame.line);
  }
  return text;
}

namespace {

std::string DtypeList(std::string_view dtypes) {
  std::vector<std::string_view> list;
  while (!dtypes.empty()) {
    size_t end = std::min(dtypes.find(", "), dtypes.size());
    list.push_back(dtypes.substr(0, end));
    dtypes.remove_prefix(std::min(end + 2, dtypes.size()));
  }
  return PythonList(list);
}

std::string VerboseText(const Entry& entry, const DumpGroup& group, std::string_view peers) {
  bool sized = entry.op != "coalesced";
  return fmt::format(
      "{}(timestamp_created={}, {}{}input_sizes={}, output_sizes={}, input_dtypes={}, "
      "output_dtypes={}, collective_seq_id | p2p_seq_id={}, pg_name={}, pg_description={}, "
      "pg_size={}, stack_id={}, state={})",
      Printable(entry.op), entry.created_ns, peers, peers.empty() ? "" : ", ",
      sized ? entry.input_sizes : "None", sized ? entry.output_sizes : "None",
      DtypeList(entry.input_dtypes), DtypeList(entry.output_dtypes),
      IsP2p(entry.op) ? entry.p2p_seq : entry.collective_seq, group.key,
      Printable(entry.group_desc), group.ranks.size(), entry.stack_id, Printable(entry.state));
}

}  // namespace

Result<std::string> EntryText(const Entry& entry, const DumpGroup& group, bool verbose) {
  TRY(CheckEntry(entry, group.ranks.size()));
  std::string peers;
  if (IsP2p(entry.op)) {
    auto global = [&](int32_t rank) {
      return rank == kNone32 ? "None" : std::to_string(group.ranks[static_cast<size_t>(rank)]);
    };
    peers = fmt::format("s={} d={}", global(entry.src), global(entry.dst));
  }
  if (verbose) return VerboseText(entry, group, peers);
  return fmt::format("{}({}{}input_sizes={}, state={})", Printable(entry.op), peers,
                     peers.empty() ? "" : ", ",
                     entry.op == "coalesced" ? "None" : entry.input_sizes, Printable(entry.state));
}

}  // namespace debrief::outputs::flight_text
