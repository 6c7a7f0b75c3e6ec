#include "outputs/terminal/flight_text/regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compat/torchfrtrace/tabulate.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

DumpGroup GroupOfMatch(const Model& model, size_t match) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  DumpGroup group;
  group.name = model.pools.Text(matches.group_name[match]);
  group.desc = model.pools.Text(matches.group_desc[match]);
  for (int64_t rank : model.pools.lists.Get(matches.members[match]))
    group.ranks.push_back(static_cast<int32_t>(rank));
  group.key = group.name;
  group.members = PythonSet(group.ranks);
  return group;
}

P2pRegions::P2pRegions(const Model& model, const RowsByMatch& ops) : model_(model), ops_(ops) {
  Gather();
  std::vector<bool> done(regions_.empty() ? 0 : static_cast<size_t>(regions_.rbegin()->first) + 1);
  for (const auto& [number, region] : regions_) {
    if (!done[static_cast<size_t>(number)]) Tie(number, done);
  }
}

// Numbers of matches count the rows of comm_match.
void P2pRegions::Gather() {
  const auto& calls = model_.tables.Get<CommCallTable>();
  const auto& matches = model_.tables.Get<CommMatchTable>();
  const auto& ops = model_.tables.Get<CommOpTable>();
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto match = static_cast<size_t>(calls.match[i]);
    const auto row = static_cast<size_t>(calls.op_row[i]);
    if (calls.region[i] < 0 || match >= matches.size() || row >= ops.size()) continue;
    if (model_.pools.Text(matches.kind[match]) != "p2p") continue;
    regions_[calls.region[i]].push_back({row, calls.match[i]});
    region_of_row_[row] = calls.region[i];
    by_seq_[{ops.group_name[row], ops.rank[row], ops.p2p_seq[row]}] = calls.region[i];
  }
}

bool P2pRegions::IsMarker(size_t row) const {
  return !IsP2p(model_.pools.Text(model_.tables.Get<CommOpTable>().op[row]));
}

// Where the other half would be: in the partner's region of the same number.
int32_t P2pRegions::PartnerRegion(const Call& call) const {
  const auto& matches = model_.tables.Get<CommMatchTable>();
  const auto& ops = model_.tables.Get<CommOpTable>();
  const auto match = static_cast<size_t>(call.match);
  for (ListId list : {matches.missing[match], matches.unknown[match]}) {
    for (int64_t rank : model_.pools.lists.Get(list)) {
      const auto found = by_seq_.find(
          {ops.group_name[call.row], static_cast<int32_t>(rank), ops.p2p_seq[call.row]});
      if (found != by_seq_.end()) return found->second;
    }
  }
  return -1;
}

std::vector<int32_t> P2pRegions::Neighbours(int32_t region) const {
  std::vector<int32_t> neighbours;
  for (const Call& call : regions_.at(region)) {
    const auto rows = ops_.find(call.match);
    if (rows == ops_.end()) continue;
    for (size_t row : rows->second) {
      const auto found = region_of_row_.find(row);
      if (found != region_of_row_.end() && found->second != region)
        neighbours.push_back(found->second);
    }
    if (int32_t partner = PartnerRegion(call); partner >= 0) neighbours.push_back(partner);
  }
  return neighbours;
}

void P2pRegions::Tie(int32_t first, std::vector<bool>& done) {
  const auto& ops = model_.tables.Get<CommOpTable>();
  const auto& matches = model_.tables.Get<CommMatchTable>();
  P2pRegion whole;
  std::vector<int32_t> todo = {first};
  for (size_t next = 0; next < todo.size(); ++next) {
    const Region& region = regions_.at(todo[next]);
    const int32_t rank = ops.rank[region.front().row];
    if (done[static_cast<size_t>(todo[next])] || whole.rows.contains(rank)) continue;
    done[static_cast<size_t>(todo[next])] = true;
    for (const Call& call : region) {
      const auto match = static_cast<size_t>(call.match);
      whole.rows[rank].push_back(call.row);
      whole.fits &= matches.mismatch[match] == StringId::kNone &&
                    model_.pools.lists.Get(matches.missing[match]).empty();
      calls_[call.row] = call;
      region_of_match_.try_emplace(call.match, static_cast<int32_t>(all_.size()));
    }
    for (int32_t neighbour : Neighbours(todo[next])) todo.push_back(neighbour);
  }
  all_.push_back(std::move(whole));
}

int32_t P2pRegions::Of(int64_t match) const {
  const auto found = region_of_match_.find(match);
  return found == region_of_match_.end() ? -1 : found->second;
}

std::string P2pRegions::StateOfMatch(int64_t match) const {
  const auto& matches = model_.tables.Get<CommMatchTable>();
  const auto at = static_cast<size_t>(match);
  if (matches.mismatch[at] != StringId::kNone)
    return fmt::format("no: {} differs", model_.pools.Text(matches.mismatch[at]));
  if (!model_.pools.lists.Get(matches.missing[at]).empty()) return "no: the other half is missing";
  return model_.pools.lists.Get(matches.unknown[at]).empty() ? "yes" : "unknown";
}

std::string P2pRegions::Text(size_t row, const Log& log) const {
  const auto match = static_cast<size_t>(calls_.at(row).match);
  Result<std::string> text =
      EntryText(ReadEntry(model_, row), GroupOfMatch(model_, match), log.verbose());
  return text.ok() ? text.value() : std::string(text.status().message());
}

void P2pRegions::Write(const P2pRegion& region, const Log& log) const {
  const auto& ops = model_.tables.Get<CommOpTable>();
  std::vector<std::string> heads;
  std::map<int32_t, size_t> columns;
  for (const auto& [rank, rows] : region.rows) {
    columns.emplace(rank, heads.size());
    heads.push_back(fmt::format("Rank {}", rank));
  }
  heads.emplace_back("match");
  Rows table;
  std::vector<Cell> markers(heads.size());
  std::map<int64_t, size_t> line_of_match;
  for (const auto& [rank, rows] : region.rows) {
    for (size_t row : rows) {
      if (IsMarker(row)) {
        markers[columns[rank]] = Text(row, log);
        continue;
      }
      const int64_t match = calls_.at(row).match;
      const auto [line, is_new] = line_of_match.try_emplace(match, table.size());
      if (is_new) {
        table.emplace_back(heads.size());
        table.back().back() = StateOfMatch(match);
      }
      table[line->second][columns[ops.rank[row]]] = Text(row, log);
    }
  }
  if (std::any_of(markers.begin(), markers.end(),
                  [](const Cell& cell) { return cell.has_value(); }))
    table.push_back(std::move(markers));
  log.Info(region.fits ? "Match \n" : "MISMATCH \n");
  log.Info(Tabulate(heads, table));
}

}  // namespace debrief::outputs::flight_text
