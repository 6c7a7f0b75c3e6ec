#include "outputs/terminal/flight_text/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/safe_name.h"
#include "outputs/terminal/flight_text/record.h"
#include "outputs/terminal/flight_text/tabulate.h"

namespace debrief::outputs::flight_text {

namespace {

template <typename T>
bool IsSelected(const std::vector<T>& selection, const T& value) {
  return selection.empty() ||
         std::find(selection.begin(), selection.end(), value) != selection.end();
}

// Numbers the stacks in the order in which they are met; returns them in that order.
std::vector<StackId> NumberStacks(const Model& model, Dumps& dumps) {
  std::vector<StackId> stacks;
  std::map<StackId, int32_t> numbers;
  for (RankDump& dump : dumps.ranks) {
    for (Entry& entry : dump.entries) {
      if (model.pools.GetStack(entry.stack).empty()) continue;
      auto [known, is_new] = numbers.try_emplace(entry.stack, static_cast<int32_t>(stacks.size()));
      if (is_new) stacks.push_back(entry.stack);
      entry.stack_id = known->second;
    }
  }
  return stacks;
}

bool PassesFilter(const Entry& entry, const FlightTextOptions& options) {
  return options.pg_filters.empty() ||
         IsSelected(options.pg_filters, std::string(entry.group_name)) ||
         IsSelected(options.pg_filters, std::string(entry.group_desc));
}

// An entry that the analyzer refuses: of an op or a group that it does not know.
std::string PlainText(const Entry& entry) {
  return fmt::format("{}(input_sizes={}, state={})", Printable(entry.op), entry.input_sizes,
                     Printable(entry.state));
}

Result<Cell> EntryCell(const RankDump& dump, size_t i, const Dumps& dumps,
                       const FlightTextOptions& options) {
  if (i >= dump.entries.size()) return Cell("");
  const Entry& entry = dump.entries[i];
  if (!PassesFilter(entry, options)) return Cell("");
  if (options.strict) TRY(CheckGroup(entry, dump.rank));
  if (entry.group < 0) return Cell(PlainText(entry));
  Result<std::string> text =
      EntryText(entry, dumps.groups[static_cast<size_t>(entry.group)], options.verbose);
  if (text.ok()) return Cell(std::move(text).value());
  if (options.strict) return text.status();
  return Cell(PlainText(entry));
}

Cell Number(int64_t number) {
  return number == kNone32 || number == kNone64 ? Cell() : Cell(std::to_string(number));
}

Cell Set(const std::optional<PythonSet>& set) {
  return set && !set->empty() ? Cell(set->Text()) : Cell();
}

// One of the collectives that do not fit, as Python shows a named tuple. The analyzer's text ends
// with the address of an object.
std::string MisfitText(const Model& model, const Collective& of, const Misfit& misfit) {
  const Entry& entry = misfit.entry;
  return fmt::format(
      "{}: Collective(id={}, group_id={}, pass_check=False, collective_seq_id={}, p2p_seq_id={}, "
      "record_id={}, pg_desc={}, collective_name={}, input_sizes={}, output_sizes={}, "
      "expected_ranks={}, collective_state={}, collective_frames={}, input_numel=None, "
      "output_numel=None, missing_ranks=None, mismatch_collectives=None, "
      "type_of_mismatch=<torch.distributed.flight_recorder.components.types.MatchInfo object at "
      "0x000000000000>)",
      misfit.rank, of.id, PythonText(entry.group_name), entry.collective_seq, entry.p2p_seq,
      entry.record, PythonText(GroupText(entry)), PythonText(ProfilingName(entry)),
      entry.input_sizes, entry.output_sizes, of.expected.Text(), PythonText(entry.state),
      FramesAsPython(model, entry.stack));
}

Cell MisfitCell(const Model& model, const Collective& collective) {
  if (collective.misfits.empty()) return {};
  std::vector<std::string> texts;
  for (const Misfit& misfit : collective.misfits)
    texts.push_back(MisfitText(model, collective, misfit));
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::vector<Cell> CollectiveRow(const Model& model, const Collective& collective) {
  const Entry& entry = collective.entry;
  return {Number(collective.id),
          Printable(entry.group_name),
          collective.pass_check ? "True" : "False",
          Number(entry.collective_seq),
          Number(entry.p2p_seq),
          Number(entry.record),
          GroupText(entry),
          ProfilingName(entry),
          std::string(entry.input_sizes),
          std::string(entry.output_sizes),
          collective.expected.Text(),
          Printable(entry.state),
          FramesAsPython(model, entry.stack),
          Number(collective.input_numel),
          Number(collective.output_numel),
          Set(collective.missing),
          MisfitCell(model, collective),
          Cell()};
}

void WriteGroups(const Dumps& dumps, const Log& log) {
  Rows groups;
  Rows memberships;
  for (const DumpGroup& group : dumps.groups) {
    groups.push_back({group.key, Printable(group.desc), std::to_string(group.ranks.size())});
    for (int32_t rank : group.ranks) memberships.push_back({group.key, std::to_string(rank)});
  }
  log.Debug("Groups");
  log.Debug(Tabulate({"id", "desc", "size"}, groups));
  log.Debug("Memberships");
  log.Debug(Tabulate({"group_id", "global_rank"}, memberships));
}

}  // namespace

Status WriteEntryTable(const Model& model, const FlightTextOptions& options, Dumps& dumps,
                       const Log& log) {
  std::vector<StackId> stacks = NumberStacks(model, dumps);
  std::vector<const RankDump*> shown;
  size_t most = 0;
  for (const RankDump& dump : dumps.ranks) {
    if (!IsSelected(options.selected_ranks, dump.rank)) continue;
    shown.push_back(&dump);
    most = std::max(most, dump.entries.size());
  }
  std::sort(shown.begin(), shown.end(),
            [](const RankDump* a, const RankDump* b) { return a->rank < b->rank; });
  std::vector<std::string> headers;
  for (const RankDump* dump : shown) headers.push_back(fmt::format("Rank {}", dump->rank));
  Rows rows(most);
  for (size_t i = 0; i < most; ++i) {
    for (const RankDump* dump : shown) {
      ASSIGN_OR_RETURN(Cell cell, EntryCell(*dump, i, dumps, options));
      rows[i].push_back(std::move(cell));
    }
  }
  log.Info(Tabulate(headers, rows));
  if (!options.print_stacks || stacks.empty()) return {};
  Rows frames;
  for (size_t i = 0; i < stacks.size(); ++i)
    frames.push_back({std::to_string(i), FramesAsPython(model, stacks[i])});
  log.Info(Tabulate({"stack_id", "frame_stack"}, frames));
  return {};
}

void WriteDatabaseTables(const Model& model, const Dumps& dumps, const Database& db,
                         const Log& log) {
  WriteGroups(dumps, log);
  Rows collectives;
  for (const Collective& collective : db.collectives)
    collectives.push_back(CollectiveRow(model, collective));
  log.Debug("Collectives");
  log.Debug(Tabulate({"id", "group_id", "pass_check", "collective_seq_id", "p2p_seq_id",
                      "record_id", "pg_desc", "collective_name", "input_sizes", "output_sizes",
                      "expected_ranks", "collective_state", "collective_frames", "input_numel",
                      "output_numel", "missing_ranks", "mismatch_collectives", "type_of_mismatch"},
                     collectives));
  Rows calls;
  for (const NcclCall& call : db.calls) {
    calls.push_back({Number(call.id), Number(call.collective), Printable(call.entry.group_name),
                     Number(call.rank), "0", ProfilingName(call.entry),
                     std::string(call.entry.input_sizes)});
  }
  log.Debug("NCCLCalls");
  log.Debug(Tabulate({"id", "collective_id", "group_id", "global_rank", "traceback_id",
                      "collective_type", "sizes"},
                     calls));
}

}  // namespace debrief::outputs::flight_text
