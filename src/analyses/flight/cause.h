// What a rule concludes, before it becomes a finding; and the steps from dumps to findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/flight/index.h"
#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::flight {

struct Cause {
  std::string_view rule;  // "flight.<rule>", see docs/formats/flight_rules.md
  Severity severity = Severity::kError;
  std::vector<int32_t> ranks;   // positions in Index::ranks, sorted; none when nobody can be named
  std::vector<int32_t> groups;  // positions in Index::groups; the headline names the first
  int32_t seq = kNone32;
  std::string op;
  std::string what;  // the headline after its subject: "skipped 4 collectives of ..."; all of it
                     // when nobody is named
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
void FindRestarts(const Index& index, std::vector<Cause>& causes);
void FindCompletionLag(const Index& index, std::vector<Cause>& causes);

class Waits;
void FindWaitCauses(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void FindHangs(const Index& index, const Waits& waits, std::vector<Cause>& causes);
void FindMissingDumps(const Index& index, std::vector<Cause>& causes);
void FindOlderEpochs(const Index& index, std::vector<Cause>& causes);
void FindEmptyDumps(const Index& index, std::vector<Cause>& causes);

struct Arrivals;
void FindStragglers(const Index& index, const Arrivals& arrivals, std::vector<Cause>& causes);
void FindGroupDisagreements(const Index& index, std::vector<Cause>& causes);

// From causes to findings: whom they blame, where, on what evidence, and what follows from them.
void AddFindings(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                 std::vector<Finding>& findings);

// Appends the rows of one attempt to the tables; numbers of matches go on from those in `part`.
void FillMatchTables(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                     Part& part);
void FillArrivalTables(const Index& index, const Arrivals& arrivals, Part& part);

}  // namespace debrief::analyses::flight
