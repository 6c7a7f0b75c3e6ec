#include "analyses/join/collectives/units.h"

#include <algorithm>
#include <array>

#include "tables/compile_collective.h"
#include "torch/collective_names.h"

namespace debrief::analyses::join_collectives {

namespace {

class Collector {
 public:
  explicit Collector(const Model& model)
      : pools_(model.pools), ops_(model.tables.Get<CommOpTable>()) {}

  void Add(size_t row) {
    std::string_view op = pools_.Text(ops_.op[row]);
    std::vector<Unit>& units = units_[ops_.group_name[row]];
    if (!units.empty() && Continues(units, row, op)) return;
    Unit& unit = units.emplace_back();
    unit.row = row;
    unit.created_ns = ops_.created_ns[row];
    unit.p2p = ops_.is_p2p[row] != 0;
    unit.seq = unit.p2p ? ops_.p2p_seq[row] : ops_.collective_seq[row];
    unit.op = OpClassOf(op);
  }

  UnitsByGroup Take() { return std::move(units_); }

 private:
  // The end marker of a batch makes one unit of what has its number; an entry with the sequence
  // number of the one before belongs to the same region.
  bool Continues(std::vector<Unit>& units, size_t row, std::string_view op) const {
    Unit& last = units.back();
    if (ops_.is_p2p[row] != 0) return false;
    if (!last.p2p) return last.seq == ops_.collective_seq[row] && last.seq != kNone32;
    if (op != "coalesced" || last.seq != ops_.p2p_seq[row]) return false;
    while (units.size() > 1 && units[units.size() - 2].p2p &&
           units[units.size() - 2].seq == ops_.p2p_seq[row])
      units.pop_back();
    return true;
  }

  const Pools& pools_;
  const CommOpTable& ops_;
  UnitsByGroup units_;
};

}  // namespace

Schedules::Schedules(const Model& model) {
  const auto& table = model.tables.Get<CompileCollectiveTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    const int32_t op = OpClassOf(model.pools.Text(table.op[row]));
    if (op == 0) continue;  // waits
    auto& schedules = of_compilation_[Key(table.job[row], table.attempt[row], table.rank[row],
                                          table.compile_id[row])];
    if (schedules.empty() || schedules.back().entry != table.entry[row])
      schedules.push_back({table.entry[row], {}, {}});
    schedules.back().ops.push_back(op);
    schedules.back().positions.push_back(table.position[row]);
  }
}

void Schedules::Place(const Identity& who, StringId compile_id,
                      std::vector<CompiledCall*>& calls) const {
  const Schedule* fits = nullptr;
  size_t fitting = 0;
  auto found = of_compilation_.find(Key(who.job, who.attempt, who.rank, compile_id));
  if (found != of_compilation_.end()) {
    for (const Schedule& schedule : found->second) {
      if (!std::equal(schedule.ops.begin(), schedule.ops.end(), calls.begin(), calls.end(),
                      [](int32_t op, const CompiledCall* call) { return op == call->op; }))
        continue;
      fits = &schedule;
      ++fitting;
    }
  }
  if (fitting != 1) {
    std::string_view reason =
        found == of_compilation_.end() ? "the compile log has no schedule of this compilation"
        : fitting == 0                 ? "no schedule of this compilation has these ops"
                                       : "several schedules of this compilation have these ops";
    for (CompiledCall* call : calls) call->reason = reason;
    return;
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i]->entry = fits->entry;
    calls[i]->position = fits->positions[i];
  }
}

UnitsByGroup UnitsOf(const Model& model, timeline::RowRange rows) {
  Collector collector(model);
  for (size_t row = rows.begin; row < rows.end; ++row) collector.Add(row);
  return collector.Take();
}

bool IsTransfer(std::string_view op) { return op == "send" || op == "recv" || op == "send_recv"; }

int32_t OpClassOf(std::string_view op) {
  static constexpr std::array<std::string_view, 5> kAlone = {"all_gather", "reduce_scatter",
                                                             "broadcast", "reduce", "all_reduce"};
  std::string_view plain = timeline::PlainOp(op);
  if (plain.empty()) return 0;
  if (plain == "barrier") plain = "all_reduce";
  for (size_t i = 0; i < kAlone.size(); ++i) {
    if (plain == kAlone[i]) return static_cast<int32_t>(i) + 1;
  }
  return static_cast<int32_t>(kAlone.size()) + 1;
}

}  // namespace debrief::analyses::join_collectives
