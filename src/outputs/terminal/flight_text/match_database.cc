#include <algorithm>

#include "outputs/terminal/flight_text/flight_text.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

namespace {

class NullSink final : public TextSink {
 public:
  void Write(std::string_view) override {}
};

PythonSet MembersOf(const Model& model, ListId list) {
  PythonSet ranks;
  for (int64_t rank : model.pools.lists.Get(list)) ranks.Add(static_cast<int32_t>(rank));
  return ranks;
}

// The entry with the op, sizes and types that most have; the first of them on a tie.
// What was right: the most common call among those of members that no finding blames.
const Entry& RightCall(const std::vector<Entry>& entries, const std::vector<bool>& blamed) {
  auto key = [](const Entry& entry) {
    return std::tie(entry.op, entry.input_sizes, entry.output_sizes, entry.input_dtypes);
  };
  std::map<decltype(key(entries[0])), size_t> votes;
  for (size_t i = 0; i < entries.size(); ++i) votes[key(entries[i])] += blamed[i] ? 0 : 1;
  return *std::max_element(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return votes[key(a)] < votes[key(b)];
  });
}

// Without the end marker of a batch, which stands for all of its sends and receives.
std::vector<size_t> OwnRows(const Model& model, size_t match, const std::vector<size_t>& rows) {
  const auto& ops = model.tables.Get<CommOpTable>();
  if (model.pools.Text(model.tables.Get<CommMatchTable>().kind[match]) != "p2p") return rows;
  std::vector<size_t> own;
  for (size_t row : rows) {
    if (IsP2p(model.pools.Text(ops.op[row]))) own.push_back(row);
  }
  return own.empty() ? rows : own;
}

}  // namespace

bool HasMatches(const Model& model) { return model.tables.Get<CommMatchTable>().size() > 0; }

RowsByMatch OpsByMatch(const Model& model) {
  const auto& calls = model.tables.Get<CommCallTable>();
  std::map<int64_t, std::vector<size_t>> ops;
  size_t count = model.tables.Get<CommOpTable>().size();
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.op_row[i] >= 0 && static_cast<size_t>(calls.op_row[i]) < count)
      ops[calls.match[i]].push_back(static_cast<size_t>(calls.op_row[i]));
  }
  return ops;
}

Collective CollectiveOfMatch(const Model& model, size_t match, const std::vector<size_t>& rows) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  const auto& ops = model.tables.Get<CommOpTable>();
  auto blamed_ranks = model.pools.lists.Get(matches.blamed[match]);
  std::vector<Entry> entries;
  std::vector<int32_t> ranks;
  std::vector<bool> blamed;
  for (size_t row : OwnRows(model, match, rows)) {
    entries.push_back(ReadEntry(model, row));
    ranks.push_back(ops.rank[row]);
    blamed.push_back(std::find(blamed_ranks.begin(), blamed_ranks.end(), ops.rank[row]) !=
                     blamed_ranks.end());
  }
  Collective about;
  about.entry = RightCall(entries, blamed);
  about.expected = MembersOf(model, matches.members[match]);
  about.missing = MembersOf(model, matches.missing[match]);
  bool differ = matches.mismatch[match] != StringId::kNone;
  about.pass_check = !differ && about.missing->empty();
  for (size_t i = 0; differ && i < entries.size(); ++i) {
    Result<MatchInfo> info = Match(about.entry, entries[i], about.expected.size());
    bool peer = IsP2p(about.entry.op) && entries[i].op == about.entry.op;
    if (!peer && info.ok() && info.value().IsError())
      about.misfits.push_back({ranks[i], entries[i], info.value()});
  }
  return about;
}

Database DatabaseOfMatches(const Model& model, const Dumps& dumps) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  const auto& ops = model.tables.Get<CommOpTable>();
  std::map<int64_t, std::vector<size_t>> by_match = OpsByMatch(model);
  Database db;
  for (size_t i = 0; i < matches.size(); ++i) {
    const std::vector<size_t>& rows = by_match[matches.match[i]];
    bool ours = matches.job[i] == dumps.job && matches.attempt[i] == dumps.attempt;
    if (rows.empty() || !ours) continue;
    Collective collective = CollectiveOfMatch(model, i, rows);
    collective.id = static_cast<int32_t>(db.collectives.size());
    for (size_t row : rows) {
      db.calls.push_back({.id = static_cast<int32_t>(db.calls.size()),
                          .collective = collective.id,
                          .rank = ops.rank[row],
                          .entry = collective.entry,
                          .row = row});
    }
    db.collectives.push_back(std::move(collective));
  }
  return db;
}

Result<Database> FindDatabase(const Model& model, const Dumps& dumps,
                              const FlightTextOptions& options, bool compat) {
  if (!compat && HasMatches(model)) return DatabaseOfMatches(model, dumps);
  NullSink nowhere;
  return Analyze(model, dumps, options.mismatch_cap, Log(nowhere, false));
}

}  // namespace debrief::outputs::flight_text
