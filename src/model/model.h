// Everything known about a run. Importers fill it, analyses read it (const), outputs show it.
//
//   inputs --Part--> Model --const Model--> analyses --Part + findings--> Model --const--> outputs
//
// A Part is rows with pools of its own. Ranges of a file, files of a run and results of analyses
// are all Parts, joined in a fixed order: the same input gives the same ids, rows and bytes
// whatever the number of threads, and parts made on other machines could be joined the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/pools/ids.h"
#include "model/diagnostics.h"
#include "model/finding.h"
#include "model/table.h"

namespace debrief {

// Whose rows these are.
struct Identity {
  int32_t input = kNone32;  // row of table `input`
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  int32_t rank = kNone32;

  // That of a row.
  template <typename Table>
  static Identity Of(const Table& table, size_t row) {
    return {table.input[row], table.job[row], table.attempt[row], table.rank[row]};
  }
};

// What a reader of one range has to tell the one that joins the ranges, beyond rows. Never joined.
struct PartNotes {
  virtual ~PartNotes() = default;
};

struct Part {
  Pools pools;
  TableSet tables;
  Diagnostics diagnostics;
  std::unique_ptr<PartNotes> notes;

  // Joins `part` to the end of this one.
  void Append(Part&& part);

  // A new row that belongs to `who`; for every table that is not global.
  template <typename Row>
  static Row RowOf(const Identity& who) {
    Row row;
    row.job = who.job;
    row.attempt = who.attempt;
    row.rank = who.rank;
    if constexpr (requires { row.input; }) row.input = who.input;
    return row;
  }
};

// What became of one analysis.
struct AnalysisOutcome {
  enum class State : uint8_t { kRan, kNotRun, kFailed };
  std::string name;
  State state = State::kRan;
  std::string reason;  // why it did not run or failed
  int32_t findings = 0;
  std::span<const std::string_view> makes = {};  // tables
};
std::string_view StateName(AnalysisOutcome::State state);

struct Model : Part {
  // By row of table `input`; null where nothing was opened. Payload references point in here.
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Finding> findings;  // ordered by OrderFindings
  std::vector<AnalysisOutcome> analyses;
};

// Writes diagnostics, findings and outcomes as rows of their tables, once all of them are known.
void RecordOutcome(Model& model);

}  // namespace debrief
