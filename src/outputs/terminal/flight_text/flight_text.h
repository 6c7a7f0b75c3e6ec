// What our matching found (tables comm_match, comm_call) in the words of PyTorch's analyzer.
//
//   WriteDetails    its blocks, and its tables of coalesced regions
//   WriteTables     its four tables and their tracebacks, from the rows of WriteFlatTables
//   WriteFlatTables  the flat database of `debrief flight -o`, as tables whose ids join:
//
//     groups(id, ...)       <- memberships, collectives, ncclcalls, ops: group_id
//     tracebacks(id, ...)   <- collectives, ncclcalls, ops: traceback_id
//     collectives(id, ...)  <- ncclcalls, ops: collective_id
//     processes(rank, ...)  <- memberships, ncclcalls, ops, threads
//
// Table names are the analyzer's; its own database is a pickle that only PyTorch can read, has no
// tracebacks, and its group ids do not join. Where our matching did not run, the analyzer's own is
// shown (compat/torchfrtrace).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compat/torchfrtrace/torchfrtrace.h"

namespace debrief::outputs::flight_text {

const Output& Describe();

// Blocks for every match that is incomplete or whose members disagree, and the tables of coalesced
// regions, of collectives as well as of sends and receives: those that do not match, all of them
// when verbose.
Status WriteDetails(const Model& model, const FlightTextOptions& options, TextSink& sink);
Status WriteTables(const Model& model, const FlightTextOptions& options, TextSink& sink);

struct FlatColumn {
  std::string_view name;
  std::string_view sql_type;
};

struct FlatTable {
  std::string_view name;
  std::vector<FlatColumn> columns;
};

// Takes the flat tables one after another, row by row: together they are many times their dumps.
class FlatSink {
 public:
  virtual ~FlatSink() = default;
  virtual Status Begin(const FlatTable& table) = 0;
  // A JSON object with the columns of the table.
  virtual Status Row(std::string_view json) = 0;
  virtual Status End(const FlatTable& table) = 0;
};

// kUsage when the model has dumps of several jobs or attempts.
Status WriteFlatTables(const Model& model, const FlightTextOptions& options, bool compat,
                       FlatSink& sink);

// All of them as {"schema": 1, "groups": [...], ...}, one row a line, in pieces.
Status WriteFlatJson(const Model& model, const FlightTextOptions& options, bool compat,
                     const std::function<Status(std::string_view)>& append);
// The same as a plain pickle: lists and dicts that any Python reads without PyTorch.
Status WriteFlatPickle(const Model& model, const FlightTextOptions& options, bool compat,
                       const std::function<Status(std::string_view)>& append);

// ---- What analyses/flight found (tables comm_match and comm_call), in the form of the analyzer's
// database. The entry that speaks for a match is the majority's, so that the ranks named are those
// that differ from most and not, as in the analyzer, from whichever rank came first.

bool HasMatches(const Model& model);

// Rows of comm_op that belong to each match, by its number.
using RowsByMatch = std::map<int64_t, std::vector<size_t>>;
RowsByMatch OpsByMatch(const Model& model);

// Row `match` of comm_match, to which `rows` of comm_op (at least one) belong.
Collective CollectiveOfMatch(const Model& model, size_t match, const std::vector<size_t>& rows);

// Every match of one attempt that has entries, and every entry that has a match.
Database DatabaseOfMatches(const Model& model, const Dumps& dumps);

// The database of our matching; the analyzer's own with `compat` or where ours did not run.
Result<Database> FindDatabase(const Model& model, const Dumps& dumps,
                              const FlightTextOptions& options, bool compat);

}  // namespace debrief::outputs::flight_text
