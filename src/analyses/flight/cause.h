// What a rule concludes, before it becomes a finding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/flight/index.h"
#include "model/finding.h"

namespace debrief::analyses::flight {

struct Cause {
  std::string_view rule;  // "flight.<rule>", see docs/formats/flight_rules.md
  Severity severity = Severity::kError;
  std::vector<int32_t> ranks;  // positions in Index::ranks, sorted
  std::vector<int32_t>
      groups;  // positions in Index::groups; the first is the one the headline names
  int32_t seq = kNone32;
  std::string op;
  std::string what;                // the headline after its subject: "skipped 4 collectives of ..."
  std::vector<int32_t> units;      // evidence: units of the blamed and of their peers
  std::vector<Evidence> evidence;  // what else shows it
  double confidence = 0.9;
  std::string why;
  std::string next_step;
};

// Each rule looks at the whole index and adds what it finds. docs/formats/flight_rules.md explains
// them.
void FindMismatches(const Index& index, std::vector<Cause>& causes);
void FindP2pSizes(const Index& index, std::vector<Cause>& causes);
void FindCompletionLag(const Index& index, std::vector<Cause>& causes);

class Waits;
void FindWaitCauses(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void FindMissingDumps(const Index& index, std::vector<Cause>& causes);

struct Arrivals;
void FindStragglers(const Index& index, const Arrivals& arrivals, std::vector<Cause>& causes);
void FindGroupDisagreements(const Index& index, std::vector<Cause>& causes);

// "mesh_dp [5, 7]", "group 3 of 64 ranks".
std::string GroupInWords(const Index& index, const Group& group);

// The line of user code that issued a unit: "train.py:52", or "" without stacks.
std::string SiteInWords(const Index& index, const Unit& unit);
Frame UserFrame(const Index& index, const Unit& unit);

// Global ranks of positions.
std::vector<int32_t> GlobalRanks(const Index& index, const std::vector<int32_t>& positions);

}  // namespace debrief::analyses::flight
