// One step of the analyzer: an entry of the first rank against the entries of the other members.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "outputs/terminal/flight_text/analyzer.h"

namespace debrief::outputs::flight_text {

using Pending = std::deque<const Entry*>;
using Lists = std::map<int32_t, Pending>;  // rank -> entries not yet matched
using Positions = std::vector<std::pair<int32_t, size_t>>;

// What all steps share.
struct Context {
  const Model& model;
  const Dumps& dumps;
  const Log& log;
  bool before_2_7 = false;  // entries inside coalesced collectives are recorded from 2.7 on
  bool before_2_4 = false;  // sizes of all_to_all can be trusted from 2.4 on
  PythonSet dump_ranks;
  std::vector<int64_t> mismatches;  // by group; above 0 nothing more is paired up in it
  Database db;

  const DumpGroup& Group(int32_t group) const { return dumps.groups[static_cast<size_t>(group)]; }
  int64_t& Mismatches(int32_t group) { return mismatches[static_cast<size_t>(group)]; }
};

struct Step {
  int32_t group = 0;
  int32_t first_rank = 0;
  std::vector<int32_t> other_ranks;  // all that come after the first rank
  Collective about;                  // becomes a row of the database
  PythonSet candidates;              // ranks that have such an entry
  PythonSet found;                   // ranks whose entry fits
  std::map<int32_t, size_t> candidate_at;
  std::map<int32_t, size_t> found_at;
  std::vector<std::pair<int32_t, MatchInfo>> errors;
  bool undecided = false;

  // Begins anew with another entry of the same collective.
  void Restart(const Entry& entry, int32_t rank);
  // Every member's entry fits, and the group is clean so far.
  bool AllFound(Context& context) const {
    return found == about.expected && context.Mismatches(group) == 0;
  }
  // Where the entries of `ranks` lie.
  Positions PositionsOf(const PythonSet& ranks, const std::map<int32_t, size_t>& at) const;
};

// "KeyError: ('7', 3)" when the rank's dump does not list the entry's group.
Status CheckGroup(const Entry& entry, int32_t rank);

// Looks for the entry of each other member and compares.
Status Compare(const Lists& lists, Context& context, Step& step);

// Decides what the comparison means and says so.
Status Decide(const Lists& lists, Context& context, Step& step);

// Adds the collective that did not match.
void AddFailed(const Lists& lists, const Positions& positions, Context& context, Step& step);

// Adds a call for each position and takes its entry off the list.
Status AddCalls(const Positions& positions, int32_t collective, const Step& step, Lists& lists,
                Context& context);

}  // namespace debrief::outputs::flight_text
