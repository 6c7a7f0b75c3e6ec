// A cell of a region's table is the rank's own entry; the analyzer's own tables often lack them.
#include "outputs/terminal/flight_text/flight_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/units.h"
#include "compat/torchfrtrace/tabulate.h"
#include "outputs/terminal/flight_text/regions.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

namespace {

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
  DumpGroup group = GroupOfMatch(model, match);
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
  const RowsByMatch ops = OpsByMatch(model);
  const P2pRegions batches(model, ops);
  std::vector<bool> shown(batches.all().size());
  int64_t blocks = 0;
  size_t regions = 0;
  for (const P2pRegion& batch : batches.all()) regions += batch.fits;
  for (size_t i = 0; i < matches.size(); ++i) {
    const auto rows = ops.find(matches.match[i]);
    if (rows == ops.end()) continue;
    bool missing = !model.pools.lists.Get(matches.missing[i]).empty();
    bool fits = matches.mismatch[i] == StringId::kNone && !missing;
    bool region = model.pools.Text(matches.kind[i]) == "region";
    bool is_shown = options.verbose || (!fits && blocks < options.mismatch_cap);
    regions += region && fits;
    if (region && is_shown) WriteRegion(model, i, rows->second, fits, log);
    if (const int32_t batch = batches.Of(matches.match[i]); batch >= 0 && is_shown) {
      const auto at = static_cast<size_t>(batch);
      if (!shown[at]) batches.Write(batches.all()[at], log);
      shown[at] = true;
    }
    if (!fits && ++blocks <= options.mismatch_cap) WriteMatchBlock(model, i, rows->second, log);
  }
  if (blocks > options.mismatch_cap) {
    log.Info(fmt::format("... and {} more: raise --mismatch_cap to see them",
                         blocks - options.mismatch_cap));
  }
  if (regions > 0 && !options.verbose)
    log.Info(fmt::format("{} match; -v shows them", Plural(regions, "coalesced region")));
  return {};
}

const Output& Describe() {
  static constexpr Output kOutput = {
      {"flight_text", "Flight Recorder dumps as PyTorch's analyzer (torchfrtrace) reports them"},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::flight_text
