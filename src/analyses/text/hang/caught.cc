// A program may print an exception and go on:
//
//   rank 0  KeyError: 'momentum'
//           RuntimeError: [.../pair.cc:547] Connection closed by peer [10.0.0.3]:17594
//   rank 1
//
// What ended it was the later one, which only tells of a peer. Where a peer ended by itself, the
// earlier exception is no reason. Where nobody did, it may be: who logs what went wrong may still
// wait for its peers after that, and then it is kept.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/text/hang/hang.h"

namespace debrief::analyses::text_hang {

namespace {

using What = std::tuple<StringId, StringId, int32_t>;  // the text and its place

What WhatOf(const TextEventTable& events, size_t row) {
  return {events.text[row], events.file[row], events.file_line[row]};
}

bool IsException(const Model& model, size_t row) {
  const std::string_view kind = model.pools.Text(model.tables.Get<TextEventTable>().kind[row]);
  return kind == "traceback" || kind == "printed";
}

// Did the process of `talk` end later with what only tells of a peer?
bool WasOutlived(const TextEventTable& events, const RankTalk& talk, size_t row) {
  auto later = [&](size_t end) {
    return events.input[end] == events.input[row] && events.line[end] > events.line[row] &&
           events.cause_line[end] != events.line[row];
  };
  return !talk.end.raised.contains({events.input[row], events.line[row]}) &&
         (std::ranges::any_of(talk.aftermaths, later) || std::ranges::any_of(talk.timeouts, later));
}

std::map<What, std::set<int32_t>> FindOutlived(const Model& model, const Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::map<What, std::set<int32_t>> outlived;
  for (const auto& [rank, each] : talk.ranks) {
    for (size_t row : each.troubles) {
      if (IsException(model, row) && WasOutlived(events, each, row))
        outlived[WhatOf(events, row)].insert(rank);
    }
  }
  return outlived;
}

// Nothing that it says follows from a peer, and nobody stopped it.
bool EndedFirst(const Talk& talk, int32_t rank, const RankTalk& each) {
  return talk.OutputIsKnown(rank) && each.aftermaths.empty() && each.timeouts.empty() &&
         each.remote_errors.empty() && !each.teardown && !each.end.stopped;
}

// What a peer printed, too, which came to its end after that: nobody says that this one did not.
void ForgetWhatPeersGotOver(const Model& model, Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  auto ended_well = [&](const RankTalk& each, size_t row) {
    // Errors may stand in a text of their own, beside the one that tells the end.
    return std::ranges::any_of(each.normal_ends,
                               [&](const auto& end) {
                                 return end.first != events.input[row] ||
                                        end.second > events.line[row];
                               }) &&
           !each.end.raised.contains({events.input[row], events.line[row]});
  };
  std::set<What> got_over;
  for (const auto& [rank, each] : talk.ranks) {
    for (size_t row : each.troubles)
      if (ended_well(each, row)) got_over.insert(WhatOf(events, row));
  }
  if (got_over.empty() || talk.EndedBadly()) return;
  for (auto& [rank, each] : talk.ranks) {
    std::erase_if(each.troubles, [&](size_t row) {
      return IsException(model, row) && got_over.contains(WhatOf(events, row));
    });
  }
}

}  // namespace

void ForgetCaught(const Model& model, Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  ForgetWhatPeersGotOver(model, talk);
  const auto outlived = FindOutlived(model, talk);
  if (outlived.empty()) return;
  auto is_outlived = [&](size_t row) { return outlived.contains(WhatOf(events, row)); };
  auto is_raised = [&](const RankTalk& each, size_t row) {
    return each.end.raised.contains({events.input[row], events.line[row]}) && !is_outlived(row);
  };
  bool silent = false;                                // one ended without a word
  std::map<int32_t, const RankTalk*> with_exception;  // and these with one of their own
  for (const auto& [rank, each] : talk.ranks) {
    if (!EndedFirst(talk, rank, each)) continue;
    silent |= std::ranges::all_of(each.troubles, is_outlived);
    if (std::ranges::any_of(each.troubles, [&](size_t row) { return is_raised(each, row); }))
      with_exception.emplace(rank, &each);
  }
  auto is_caught = [&](size_t row) {
    const auto found = outlived.find(WhatOf(events, row));
    // What one rank alone printed may be why another one raised.
    return found != outlived.end() &&
           (silent || (!with_exception.empty() && found->second.size() > 1));
  };
  for (auto& [rank, each] : talk.ranks) std::erase_if(each.troubles, is_caught);
}

}  // namespace debrief::analyses::text_hang
