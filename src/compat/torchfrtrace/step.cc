#include "compat/torchfrtrace/step.h"

#include <fmt/format.h>

#include "base/text/safe_name.h"

namespace debrief::outputs::flight_text {

namespace {

using Places = std::map<int32_t, size_t>;

void Move(PythonSet& from, Places& from_at, PythonSet& to, Places& to_at) {
  to.Merge(from);
  for (auto [rank, at] : from_at) to_at[rank] = at;
  from_at.clear();
  from.Clear();
}

void MoveFoundToCandidates(Step& step) {
  Move(step.found, step.found_at, step.candidates, step.candidate_at);
}

void MoveCandidatesToFound(Step& step) {
  Move(step.candidates, step.candidate_at, step.found, step.found_at);
}

// Elements that all members put into an all_to_all, and get out of it.
Status SumAllToAll(const Lists& lists, Step& step) {
  auto add = [](std::string_view sizes, uint64_t& sum) {
    std::vector<int64_t> elements = Elements(sizes);
    if (elements.empty()) return PythonError("IndexError", "list index out of range");
    sum += static_cast<uint64_t>(elements.front());
    return Status();
  };
  uint64_t input = 0;
  uint64_t output = 0;
  TRY(add(step.about.entry.input_sizes, input));
  TRY(add(step.about.entry.output_sizes, output));
  for (auto [rank, at] : step.found_at) {
    const Entry& entry = *lists.at(rank)[at];
    TRY(add(entry.input_sizes, input));
    TRY(add(entry.output_sizes, output));
  }
  step.about.input_numel = static_cast<int64_t>(input);
  step.about.output_numel = static_cast<int64_t>(output);
  return {};
}

Status DecideAllJoined(const Lists& lists, Context& context, Step& step) {
  if (!step.undecided) {
    MoveCandidatesToFound(step);
    return {};
  }
  TRY(SumAllToAll(lists, step));
  if (context.before_2_4 || step.about.input_numel == step.about.output_numel) {
    step.about.input_numel = step.about.output_numel = kNone64;
    MoveCandidatesToFound(step);
    return {};
  }
  ++context.Mismatches(step.group);
  WriteBlock(context.model, "Input/output mismatch in the collective sequence number: {}",
             step.about, context.log);
  MoveFoundToCandidates(step);
  step.errors.emplace_back(step.first_rank, MatchInfo{MatchState::kSizeMismatch, ""});
  return {};
}

void DecideMissing(PythonSet missing, Context& context, Step& step) {
  ++context.Mismatches(step.group);
  step.about.missing = std::move(missing);
  WriteBlock(context.model, "Not all ranks joining collective, sequence number: {}", step.about,
             context.log);
  MoveFoundToCandidates(step);
}

void DecideErrors(Context& context, Step& step) {
  ++context.Mismatches(step.group);
  Collective shown = step.about;
  for (const auto& [rank, info] : step.errors) shown.misfits.push_back({rank, {}, info});
  WriteBlock(context.model, "Collective sequence number: {} has errors", shown, context.log);
  MoveFoundToCandidates(step);
}

void DecideNothing(Context& context, Step& step) {
  MoveFoundToCandidates(step);
  PythonSet without_dump = Minus(step.about.expected, context.dump_ranks);
  if (without_dump.empty()) {
    context.log.Info(
        "No errors found for this collective entry, There could be some other reasons why we see "
        "collective timeout.");
    return;
  }
  ++context.Mismatches(step.group);
  context.log.Info(fmt::format(
      "We cannot decide what's wrong with this collective entry because we missed FR dumps from "
      "ranks ({}) so we don't have enough information. If you want to debug further use -j to dump "
      "all raw trace",
      without_dump.Text()));
}

}  // namespace

void Step::Restart(const Entry& entry, int32_t rank) {
  PythonSet expected = std::move(about.expected);
  about = Collective();
  about.entry = entry;
  about.expected = std::move(expected);
  first_rank = rank;
  candidates.Clear();
  candidates.Add(rank);
  found.Clear();
  candidate_at.clear();
  found_at.clear();
  errors.clear();
}

Positions Step::PositionsOf(const PythonSet& ranks, const std::map<int32_t, size_t>& at) const {
  Positions positions;
  for (int32_t rank : ranks.Items()) {
    auto known = at.find(rank);
    positions.emplace_back(rank, rank == first_rank || known == at.end() ? 0 : known->second);
  }
  return positions;
}

Status CheckGroup(const Entry& entry, int32_t rank) {
  if (entry.group >= 0) return {};
  return PythonError("KeyError", fmt::format("('{}', {})", Printable(entry.group_name), rank));
}

Status Compare(const Lists& lists, Context& context, Step& step) {
  const Entry& mine = step.about.entry;
  size_t size = context.Group(step.group).ranks.size();
  for (int32_t rank : Intersection(step.about.expected, PythonSet(step.other_ranks)).Items()) {
    auto list = lists.find(rank);
    if (list == lists.end()) return PythonError("KeyError", std::to_string(rank));
    for (size_t i = 0; i < list->second.size(); ++i) {
      const Entry& other = *list->second[i];
      TRY(CheckGroup(other, rank));
      if (other.group != step.group || other.group_desc != mine.group_desc ||
          other.collective_seq != mine.collective_seq)
        continue;
      ASSIGN_OR_RETURN(MatchInfo info, Match(mine, other, size));
      if (!info.IsError() && context.Mismatches(step.group) == 0) {
        step.found.Add(rank);
        step.found_at[rank] = i;
        step.undecided = info.state == MatchState::kUndecided;
      } else {
        step.candidates.Add(rank);
        step.candidate_at[rank] = i;
        if (info.IsError()) step.errors.emplace_back(rank, std::move(info));
      }
      break;
    }
  }
  return {};
}

Status Decide(const Lists& lists, Context& context, Step& step) {
  PythonSet missing = Minus(step.about.expected, Union(step.candidates, step.found));
  if (!missing.empty() && missing.SubsetOf(context.dump_ranks)) {
    DecideMissing(std::move(missing), context, step);
    return {};
  }
  if (step.candidates.size() == 1 && step.about.expected.SubsetOf(context.dump_ranks))
    return DecideAllJoined(lists, context, step);
  if (!step.errors.empty()) {
    DecideErrors(context, step);
  } else {
    DecideNothing(context, step);
  }
  return {};
}

void AddFailed(const Lists& lists, const Positions& positions, Context& context, Step& step) {
  Collective& failed = step.about;
  failed.id = static_cast<int32_t>(context.db.collectives.size());
  failed.pass_check = step.errors.empty();
  for (const auto& [culprit, info] : step.errors) {
    for (auto [rank, at] : positions) {
      if (rank == culprit) failed.misfits.push_back({rank, *lists.at(rank)[at], info});
    }
  }
  context.db.collectives.push_back(failed);
}

Status AddCalls(const Positions& positions, int32_t collective, const Step& step, Lists& lists,
                Context& context) {
  for (auto [rank, at] : positions) {
    Pending& list = lists[rank];
    if (at >= list.size()) return PythonError("IndexError", "pop index out of range");
    context.db.calls.push_back({.id = static_cast<int32_t>(context.db.calls.size()),
                                .collective = collective,
                                .rank = rank,
                                .entry = step.about.entry,
                                .row = list[at]->row});
    list.erase(list.begin() + static_cast<ptrdiff_t>(at));
  }
  return {};
}

}  // namespace debrief::outputs::flight_text
