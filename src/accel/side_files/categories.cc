#include "accel/side_files/categories.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compat/acelyzer/pandas_text.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {
namespace {

// Of one rank (or all) and phase.
struct Block {
  Value pid;  // kNull: all ranks
  std::string phase;
  std::vector<CategoryUse> categories;
  bool autopilot = false;
  bool shared_out = false;  // by the shares of another run
};

double Share(double part, double whole) { return whole > 0 ? PythonRound(part / whole, 4) : 0; }

Block BlockOf(const TableUse& use) {
  Block block{use.pid, use.table->phase, use.categories, use.autopilot, false};
  std::stable_sort(block.categories.begin(), block.categories.end(),
                   [](const CategoryUse& a, const CategoryUse& b) { return a.time < b.time; });
  return block;
}

// Ranks together, phase by phase. Total stays last: it is never below a part of it.
std::vector<Block> Totals(const std::vector<Block>& blocks) {
  std::vector<Block> totals;
  for (const Block& block : blocks) {
    auto at = std::find_if(totals.begin(), totals.end(),
                           [&](const Block& total) { return total.phase == block.phase; });
    if (at == totals.end()) at = totals.insert(totals.end(), {Value(), block.phase, {}});
    at->autopilot |= block.autopilot;
    at->shared_out |= block.shared_out;
    for (const CategoryUse& use : block.categories) {
      auto sum = std::find_if(at->categories.begin(), at->categories.end(),
                              [&](const CategoryUse& c) { return c.category == use.category; });
      if (sum == at->categories.end()) {
        sum = at->categories.insert(sum, CategoryUse{.category = use.category});
      }
      sum->time += use.time, sum->ideal += use.ideal;
      sum->calls += use.calls, sum->cycles += use.cycles;
    }
  }
  for (Block& total : totals) {
    std::stable_sort(total.categories.begin(), total.categories.end(),
                     [](const CategoryUse& a, const CategoryUse& b) { return a.time < b.time; });
  }
  return totals;
}

// Under autopilot a log knows totals alone. A run without autopilot says how they divide.
void ShareOut(const CategoryShares& shares, Block& block) {
  const CategoryUse total = block.categories.back();
  std::vector<CategoryUse> shared;
  for (const CategoryShares::Row& row : shares.rows) {
    shared.push_back({row.category, total.time * row.time, total.ideal * row.ideal,
                      static_cast<int64_t>(static_cast<double>(total.calls) * row.calls),
                      static_cast<int64_t>(static_cast<double>(total.cycles) * row.time)});
  }
  shared.push_back(total);
  block.categories = std::move(shared);
  block.shared_out = true;
}

std::string ValidityOf(const Block& block, const CategoryUse& use) {
  if (!block.autopilot) return "yes";
  if (use.category == "Total") return "yes (autopilot: total only)";
  return block.shared_out ? "shared out by --autopilot_data" : "no (autopilot)";
}

class Table {
 public:
  explicit Table(const Run& run) : run_(run), compat_(run.options.compat) {
    for (const std::string_view name : {"Pid", "Phase", "Category", "Kernel_Time", "Frac_Time"}) {
      columns_.push_back({std::string(name), {}});
    }
    if (!compat_) Name({"Cycles", "Frac_Cycle"});
    Name({"Calls"});
    if (!compat_) Name({"Cycles(core)"});
    Name({"Ideal_Time", "Ideal_Cyc", "Frac_Ideal", "PT_Util"});
    if (!compat_) Name({"Valid"});
  }

  void Add(const Block& block) {
    const CategoryUse& total = block.categories.back();
    for (const CategoryUse& use : block.categories) AddRow(block, use, total);
  }

  const std::vector<Column>& columns() const { return columns_; }

 private:
  void Name(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) columns_.push_back({std::string(name), {}});
  }

  // int() of Python cuts off, so that 294912 cycles may read 294911; without --compat it is
  // rounded.
  int64_t Cycles(double us) const {
    const double cycles = us * run_.options.core_mhz;
    return static_cast<int64_t>(compat_ ? cycles : cycles + 0.5);
  }

  Cell PidCell(const Value& pid) const {
    if (compat_ && pid.IsInteger()) return Cell(pid.integer);
    return Cell(pid.IsNull() ? std::string("all") : pid.AsText(run_.strings));
  }

  void AddRow(const Block& block, const CategoryUse& use, const CategoryUse& total) {
    size_t at = 0;
    const auto put = [&](Cell cell) { columns_[at++].cells.push_back(std::move(cell)); };
    put(PidCell(block.pid));
    put(Cell(block.phase));
    put(Cell(use.category));
    put(Cell(use.time));
    put(Cell(Share(use.time, total.time)));
    if (!compat_) put(Cell(use.cycles));
    if (!compat_)
      put(Cell(Share(static_cast<double>(use.cycles), static_cast<double>(total.cycles))));
    put(Cell(use.calls));
    if (!compat_) put(Cell(Cycles(use.time)));
    put(Cell(PythonRound(use.ideal, 4)));
    put(Cell(Cycles(use.ideal)));
    put(Cell(Share(use.ideal, total.ideal)));
    put(Cell(Share(use.ideal, use.time)));
    if (!compat_) put(Cell(ValidityOf(block, use)));
  }

  const Run& run_;
  bool compat_;
  std::vector<Column> columns_;
};

std::vector<Block> BlocksOf(const Utilization& state, Run& run) {
  std::vector<Block> blocks;
  for (const TableUse& use : state.uses) blocks.push_back(BlockOf(use));
  std::stable_sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
    if (!(a.pid == b.pid)) return PidBefore(a.pid, b.pid, run.strings);
    return a.phase < b.phase;
  });
  if (run.options.compat) return blocks;
  const CategoryShares shares = ReadShares(run.options.autopilot_data, run.console);
  for (Block& block : blocks) {
    if (block.autopilot && !shares.rows.empty()) ShareOut(shares, block);
  }
  std::vector<Block> totals = Totals(blocks);
  std::move(totals.begin(), totals.end(), std::back_inserter(blocks));
  return blocks;
}

}  // namespace

void WriteCategories(const Utilization& state, Run& run) {
  Table table(run);
  for (const Block& block : BlocksOf(state, run)) table.Add(block);
  const std::string csv = SidePath(run.options, "categories", "csv");
  const std::string txt = SidePath(run.options, "categories", "txt");
  run.side_files.push_back({csv, CommaSeparated(table.columns())});
  run.side_files.push_back({txt, PandasText(table.columns()) + (run.options.compat ? "" : "\n")});
  run.console.Info("UTL: category table(s) created as CSV: " + csv);
  run.console.Info("UTL: category table(s) created as TXT: " + txt);
}

}  // namespace debrief::accel
