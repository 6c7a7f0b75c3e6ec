// -f pddf: the slices as a table of text, as pandas prints a data frame.
#include "accel/export/write_trace.h"
#include "base/bytes/growing_file.h"
#include "compat/acelyzer/pandas_text.h"

namespace debrief::accel {

namespace {

constexpr std::string_view kNames[] = {"Rank",     "Timestamp",  "Duration",
                                       "Category", "Event Name", "Event CLass",
                                       "Job",      "Size",       "PT_Active"};

std::string TextArg(const Event& event, StringId key, const Run& run) {
  const Arg* arg = event.Find(key);
  return arg == nullptr ? "" : arg->value().AsText(run.strings);
}

double NumberArg(const Event& event, StringId key, const Run& run) {
  const Arg* arg = event.Find(key);
  return arg == nullptr ? 0 : arg->value().AsNumber(run.strings).value_or(0);
}

int64_t RankCell(const Event& event, const Run& run) {
  const Arg* rank = event.Find(key::kRank);
  const Value value = rank == nullptr ? event.pid : rank->value();
  return value.AsInteger(run.strings).value_or(0);
}

// Flex writes sizes as texts: the column is one of texts then, "0.0" where there is none.
bool HasTextSizes(const EventList& events) {
  for (const Event& event : events) {
    const Arg* bytes = event.phase == 'X' ? event.Find(key::kBytes) : nullptr;
    if (bytes != nullptr && bytes->value().IsString()) return true;
  }
  return false;
}

Cell SizeCell(const Event& event, bool as_text, const Run& run) {
  if (!as_text) return Cell(NumberArg(event, key::kBytes, run));
  return Cell(event.Has(key::kBytes) ? TextArg(event, key::kBytes, run) : std::string("0.0"));
}

}  // namespace

Result<size_t> WritePddf(const std::string& path, const EventList& events, Run& run) {
  std::vector<Column> columns;
  for (std::string_view name : kNames) columns.push_back({std::string(name), {}});
  const bool sizes_are_texts = HasTextSizes(events);
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    size_t at = 0;
    auto add = [&](Cell cell) { columns[at++].cells.push_back(std::move(cell)); };
    add(Cell(RankCell(event, run)));
    add(Cell(event.ts));
    add(Cell(event.dur));
    add(Cell(std::string(run.Text(event.cat))));
    add(Cell(std::string(run.Text(event.name))));
    add(Cell(TextArg(event, key::kClass, run)));
    add(Cell(TextArg(event, key::kJobName, run)));
    add(SizeCell(event, sizes_are_texts, run));
    add(Cell(NumberArg(event, key::kPtActive, run)));
  }
  const size_t rows = columns[0].cells.size();
  TRY(WriteFileAtomically(path, PandasText(columns)));
  return rows;
}

}  // namespace debrief::accel
