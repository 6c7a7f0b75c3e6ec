#include "inputs/records/partial_data.h"

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "tables/debug_no_answer.h"

namespace debrief::inputs {

bool PartialData::Add(std::string_view line, int64_t number, Part& part) {
  if (IsHead(line)) return open_ = true;
  std::string_view rest = line;
  open_ = open_ && TakePrefix(rest, "  Rank ");
  if (!open_) return false;
  const size_t colon = rest.find(':');
  const auto rank = ParseNumber<int32_t>(rest.substr(0, colon));
  if (!rank || *rank < 0) return true;
  auto row = Part::RowOf<DebugNoAnswerRow>(who_);
  row.rank = *rank;
  row.input = who_.input;
  row.line = number;
  row.time_ns = time_ns_;
  if (colon != std::string_view::npos)
    row.reason = part.pools.Intern(Trimmed(rest.substr(colon + 1)));
  part.tables.Edit<DebugNoAnswerTable>().Add(row);
  return true;
}

}  // namespace debrief::inputs
