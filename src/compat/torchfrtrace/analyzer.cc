#include "compat/torchfrtrace/analyzer.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text/safe_name.h"
#include "compat/torchfrtrace/step.h"

namespace debrief::outputs::flight_text {

namespace {

struct Version {
  int major = 0;
  int minor = 0;
  bool Before(int wanted_minor) const { return major <= 2 && minor < wanted_minor; }
};

Result<Version> ParseVersion(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.')
    return PythonError("AssertionError", fmt::format("Invalid version {}", Printable(text)));
  auto [rest, minor_error] = std::from_chars(dot + 1, end, version.minor);
  if (minor_error != std::errc() || rest != end)
    return PythonError("AssertionError", fmt::format("Invalid version {}", Printable(text)));
  return version;
}

Status MatchOneRegion(size_t entries, Lists& lists, Context& context, Step& step) {
  ASSIGN_OR_RETURN(Region region, GatherRegion(lists, context, step));
  ASSIGN_OR_RETURN(bool match, MatchRegion(region, context, step));
  auto& collectives = context.db.collectives;
  if (match && context.Mismatches(step.group) == 0) {
    step.about.id = static_cast<int32_t>(collectives.size());
    collectives.push_back(step.about);
  } else {
    ++context.Mismatches(step.group);
  }
  if (match && collectives.empty()) return PythonError("IndexError", "list index out of range");
  int32_t collective = match ? collectives.back().id : kNone32;
  for (const auto& [rank, found] : region) {
    if (found.empty()) continue;
    size_t at = found.front().first;
    TRY(AddCalls({{rank, at}}, collective, step, lists, context));
    // As many as the first rank had, wherever they lie.
    Pending& list = lists[rank];
    for (size_t i = 1; i < entries && at < list.size(); ++i)
      list.erase(list.begin() + static_cast<ptrdiff_t>(at));
  }
  return {};
}

Status MatchOneEntry(Lists& lists, Context& context, Step& step) {
  TRY(Compare(lists, context, step));
  TRY(Decide(lists, context, step));
  if (step.AllFound(context)) {
    step.about.id = static_cast<int32_t>(context.db.collectives.size());
    context.db.collectives.push_back(step.about);
    return AddCalls(step.PositionsOf(step.found, step.found_at), step.about.id, step, lists,
                    context);
  }
  context.log.Debug("appending a non-matching collective");
  Positions positions = step.PositionsOf(step.candidates, step.candidate_at);
  AddFailed(lists, positions, context, step);
  return AddCalls(positions, kNone32, step, lists, context);
}

// The next entry of `order[head]`, alone or with its region. False: enough mismatches, stop.
Result<bool> MatchNext(const std::vector<int32_t>& order, size_t head, int64_t cap, Lists& lists,
                       Context& context) {
  Pending& list = lists[order[head]];
  Step step;
  step.first_rank = order[head];
  step.about.entry = *list.front();
  TRY(CheckGroup(step.about.entry, step.first_rank));
  step.group = step.about.entry.group;
  step.about.expected.Merge(context.Group(step.group).members);
  step.candidates.Add(step.first_rank);
  step.other_ranks.assign(order.begin() + static_cast<ptrdiff_t>(head) + 1, order.end());
  std::string_view desc = step.about.entry.group_desc;
  ASSIGN_OR_RETURN(RegionEntries region, FindRegion(step.group, list, step.first_rank, context));
  TRY(region.size() > 1 ? MatchOneRegion(region.size(), lists, context, step)
                        : MatchOneEntry(lists, context, step));
  if (context.Mismatches(step.group) <= cap) return true;
  context.log.Info(fmt::format("Too many mismatches for process_group {}: {} aborting",
                               context.Group(step.group).key, Printable(desc)));
  return false;
}

}  // namespace

void WriteBlock(const Model& model, std::string_view headline, const Collective& collective,
                const Log& log) {
  const Entry& entry = collective.entry;
  log.Info(fmt::format(fmt::runtime(headline), entry.collective_seq));
  log.Info(fmt::format("internal record id: {}", entry.record));
  log.Info(fmt::format("group info: {}", GroupText(entry)));
  log.Info(fmt::format("collective: {}", ProfilingName(entry)));
  if (collective.missing && !collective.missing->empty())
    log.Info(fmt::format("missing ranks: {}", collective.missing->Text()));
  if (collective.input_numel != kNone64) {
    log.Info(fmt::format("total input numel: {}", collective.input_numel));
    log.Info(fmt::format("total output numel: {}", collective.output_numel));
  }
  log.Info(fmt::format("input sizes: {}", entry.input_sizes));
  log.Info(fmt::format("output sizes: {}", entry.output_sizes));
  log.Info(fmt::format("world size: {}", collective.expected.size()));
  log.Info(fmt::format("expected ranks: {}", collective.expected.Text()));
  log.Info(fmt::format("collective state: {}", Printable(entry.state)));
  std::string errors;
  for (const Misfit& misfit : collective.misfits) {
    errors += fmt::format("{}Culprit rank {}; {}", errors.empty() ? "" : ", ", misfit.rank,
                          misfit.info.Text());
  }
  if (!errors.empty()) log.Info("error msg: " + errors);
  log.Info("collective stack trace: \n " + FramesAsLines(model, entry.stack));
}

Result<Database> Analyze(const Model& model, const Dumps& dumps, int64_t mismatch_cap,
                         const Log& log) {
  ASSIGN_OR_RETURN(Version version, ParseVersion(dumps.version));
  Context context{.model = model,
                  .dumps = dumps,
                  .log = log,
                  .before_2_7 = version.Before(7),
                  .before_2_4 = version.Before(4),
                  .dump_ranks = {},
                  .mismatches = std::vector<int64_t>(dumps.groups.size()),
                  .db = {}};
  Lists lists;
  std::vector<int32_t> order;
  for (const RankDump& dump : dumps.ranks) {
    order.push_back(dump.rank);
    context.dump_ranks.Add(dump.rank);
    Pending& list = lists[dump.rank];
    for (const Entry& entry : dump.entries) list.push_back(&entry);
  }
  for (size_t head = 0; head < order.size();) {
    if (lists[order[head]].empty()) {
      lists.erase(order[head++]);
      continue;
    }
    // Every entry that is taken off a list is a call. A region of a group that its own rank is no
    // member of takes none: the analyzer would ask for it again and again.
    const size_t calls = context.db.calls.size();
    ASSIGN_OR_RETURN(bool go_on, MatchNext(order, head, mismatch_cap, lists, context));
    if (!go_on) break;
    if (context.db.calls.size() == calls) {
      return PythonError("RuntimeError",
                         fmt::format("the analyzer never gets past record {1} of rank {0}",
                                     order[head], lists[order[head]].front()->record));
    }
  }
  return std::move(context.db);
}

}  // namespace debrief::outputs::flight_text
