// What an analysis concludes: the answer that is printed first.
//
// The fields are those of findings.json (docs/formats/findings_json.md). Findings are few, so they
// are plain objects; everything they rest on is rows of tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "model/diagnostics.h"

namespace debrief {

enum class Role : uint8_t { kCause, kConsequence, kObservation };
std::string_view RoleName(Role role);

struct GroupRef {
  std::string name;  // as the job numbers it
  std::string desc;  // as people call it, "mesh_dp"
  std::vector<int32_t> ranks;
};

struct SourceLine {
  int32_t rank = kNone32;
  std::string file;
  int64_t line = 0;
};

// Rows of a table that show the finding to be true, and a sentence about them.
struct Evidence {
  std::string text;
  std::string table;
  std::vector<int64_t> rows;
};

struct Finding {
  std::string rule;  // "<analysis>.<rule>"
  Severity severity = Severity::kInfo;
  Role role = Role::kObservation;
  std::string headline;  // one sentence that a tired engineer understands
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::vector<int32_t> ranks;  // of a cause: those to blame and no others
  std::vector<GroupRef> groups;
  std::string op;
  int64_t seq = kNone64;
  std::vector<std::string> compile_ids;
  std::vector<SourceLine> source;
  std::vector<Evidence> evidence;
  std::vector<size_t> explains;  // positions of the findings that follow from this one
  double confidence = 1;
  std::string why;        // the reason for that confidence
  std::string next_step;  // what to do now

  std::string id;  // "f1", given by OrderFindings
};

// Puts the most important first, a cause before what it explains, ties by rule and headline, and
// gives the ids f1, f2, ... `explains` is translated to the new positions.
void OrderFindings(std::vector<Finding>& findings);

// Cuts the middle out of texts that no reader could take in: a name in an input may have 10 MB.
void BoundTexts(Finding& finding);

}  // namespace debrief
