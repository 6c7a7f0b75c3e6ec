#include "analyses/join/collectives/units.h"

#include <array>

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
