// Each guess looks at the talk of one attempt and adds what it finds. Text knows less than dumps:
// confidences are those of a guess that the dumps would settle.
#pragma once

#include <vector>

#include "analyses/text/hang/works.h"

namespace debrief::analyses::text_hang {

struct Scene {
  const Model& model;
  const Talk& talk;
  std::vector<GroupWorks> groups;
};

// text_hang.died: a traceback, out of memory, a signal or an exit code ends the output of a rank.
void FindDeaths(const Scene& scene, std::vector<Finding>& findings);

// text_hang.exited: a rank is gone without a word; its peers lost their connection to it.
void FindExit(const Scene& scene, std::vector<Finding>& findings);

// text_hang.differs: members of a group were in different works, or in one that another completed.
void FindDifferences(const Scene& scene, std::vector<Finding>& findings);

// text_hang.silent: all but a few ran into their time limits.
void FindSilent(const Scene& scene, std::vector<Finding>& findings);

// text_hang.timeouts: who ran into a time limit; null when nobody did.
void AddTimeouts(const Scene& scene, std::vector<Finding>& findings);

// A finding about this attempt.
Finding NewFinding(const Scene& scene, std::string_view rule);

// "output of rank 3, line 5: ..." with its row.
Evidence LineAsEvidence(const Scene& scene, size_t row);

}  // namespace debrief::analyses::text_hang
