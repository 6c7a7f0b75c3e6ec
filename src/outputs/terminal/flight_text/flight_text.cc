// A cell of a region's table is the rank's own entry; the analyzer's own tables often lack them.
#include "outputs/terminal/flight_text/flight_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compat/torchfrtrace/tabulate.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

namespace {

std::vector<int32_t> RanksOf(const Model& model, ListId list) {
  std::vector<int32_t> ranks;
  for (int64_t rank : model.pools.lists.Get(list)) ranks.push_back(static_cast<int32_t>(rank));
  return ranks;
}

DumpGroup GroupOf(const Model& model, size_t match) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  DumpGroup group;
  group.name = model.pools.Text(matches.group_name[match]);
  group.desc = model.pools.Text(matches.group_desc[match]);
  group.ranks = RanksOf(model, matches.members[match]);
  group.key = group.name;
  group.members = PythonSet(group.ranks);
  return group;
}

void WriteMatchBlock(const Model& model, size_t match, const std::vector<size_t>& rows,
                     const Log& log) {
  Collective about = CollectiveOfMatch(model, match, rows);
  bool missing = about.misfits.empty() && !about.missing->empty();
  WriteBlock(model,
             missing ? "Not all ranks joining collective, sequence number: {}"
                     : "Collective sequence number: {} has errors",
             about, log);
}

void WriteRegion(const Model& model, size_t match, const std::vector<size_t>& rows, bool fits,
                 const Log& log) {
  const auto& ops = model.tables.Get<CommOpTable>();
  DumpGroup group = GroupOf(model, match);
  std::map<int32_t, std::vector<Cell>> columns;
  size_t most = 0;
  for (size_t row : rows) {
    std::vector<Cell>& column = columns[ops.rank[row]];
    Result<std::string> text = EntryText(ReadEntry(model, row), group, log.verbose());
    column.push_back(text.ok() ? Cell(text.value()) : Cell(text.status().message()));
    most = std::max(most, column.size());
  }
  std::vector<std::string> headers;
  Rows table(most);
  for (const auto& [rank, column] : columns) {
    headers.push_back(fmt::format("Rank {}", rank));
    for (size_t i = 0; i < most; ++i) table[i].push_back(i < column.size() ? column[i] : Cell());
  }
  log.Info(fits ? "Match \n" : "MISMATCH \n");
  log.Info(Tabulate(headers, table));
}

Status Write(const Model& model, const OutputContext& context) {
  return WriteCompat(model, {.strict = true}, *context.text);
}

}  // namespace

Status WriteDetails(const Model& model, const FlightTextOptions& options, TextSink& sink) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  if (!HasMatches(model)) return WriteCompat(model, options, sink);
  Log log(sink, options.verbose);
  std::map<int64_t, std::vector<size_t>> ops = OpsByMatch(model);
  int64_t blocks = 0;
  size_t regions = 0;
  for (size_t i = 0; i < matches.size(); ++i) {
    const std::vector<size_t>& rows = ops[matches.match[i]];
    if (rows.empty()) continue;
    bool missing = !model.pools.lists.Get(matches.missing[i]).empty();
    bool fits = matches.mismatch[i] == StringId::kNone && !missing;
    bool region = model.pools.Text(matches.kind[i]) == "region";
    regions += region && fits;
    if (region && (!fits || options.verbose)) WriteRegion(model, i, rows, fits, log);
    if (!fits && ++blocks <= options.mismatch_cap) WriteMatchBlock(model, i, rows, log);
  }
  if (blocks > options.mismatch_cap) {
    log.Info(fmt::format("... and {} more: raise --mismatch_cap to see them",
                         blocks - options.mismatch_cap));
  }
  if (regions > 0 && !options.verbose)
    log.Info(fmt::format("{} coalesced regions match; -v shows them", regions));
  return {};
}

Status WriteTables(const Model& model, const FlightTextOptions& options, TextSink& sink) {
  Log log(sink, /*verbose=*/true);
  for (auto attempt : AttemptsWithDumps(model)) {
    LoadOptions load = LoadOptionsOf(options, attempt);
    load.align = !HasMatches(model);
    ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, load));
    ASSIGN_OR_RETURN(Database db, FindDatabase(model, dumps, options, /*compat=*/false));
    WriteDatabaseTables(model, dumps, db, log);
  }
  return {};
}

const Output& Describe() {
  static constexpr Output kOutput = {
      {"flight_text", "Flight Recorder dumps as PyTorch's analyzer (torchfrtrace) reports them"},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::flight_text
