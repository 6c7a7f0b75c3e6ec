// What the outputs of a job's ranks say about its end, and the guesses that follow.
//
//   text_event --> Talk: by rank, one pass
//              --> GroupWorks: the works that watchdogs gave up, by group
//              --> findings: each guess looks at the talk of one attempt and adds what it finds
//
// Text knows less than dumps: confidences are those of a guess that the dumps would settle.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/text_event.h"

namespace debrief::analyses::text_hang {

// Rows of text_event, in the order of the text.
using Rows = std::vector<size_t>;

struct RankTalk {
  bool has_text = false;  // it left an output
  Rows timeouts;          // its watchdog: a work ran into its time limit
  Rows dump_signals;      // somebody asked it for a dump
  Rows counters;          // it tells the last work that it enqueued on a group
  Rows remote_errors;     // communication failed because another process went away
  Rows troubles;          // tracebacks, out of memory, signals, exits: its own, not an aftermath
  bool teardown = false;  // its watchdog took the process down
  size_t last_line = kNoRow;
  int64_t last_ns = kNone64;  // the last time in its output

  static constexpr size_t kNoRow = ~size_t{0};
};

struct Talk {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, RankTalk> ranks;   // all that are known to exist
  int64_t first_timeout_ns = kNone64;  // null when none tells a time

  std::vector<int32_t> RanksThatTimedOut() const;
};

// One per attempt of a job in which a rank speaks. Text whose rank is not known says nothing of a
// rank: it may be a launcher's, or a tool's that ran later.
std::vector<Talk> CollectTalks(const Model& model);

// Sentences of a communication library about a peer that is gone. What follows from the end of
// another process is not what ended this one.
bool BlamesARemote(std::string_view text);

// An exception that says only that communication was given up.
bool IsAftermath(std::string_view text);

// The oldest work of one rank in one group that ran into its time limit.
struct Work {
  int32_t rank = kNone32;
  size_t row = 0;  // of text_event
  int64_t seq = kNone64;
  std::string_view op;
  int64_t elements_in = kNone64;
  int64_t elements_out = kNone64;
  int64_t last_enqueued = kNone64;
  int64_t last_completed = kNone64;
  int64_t start_ns = kNone64;  // when it began to wait
};

struct GroupWorks {
  std::string_view name;    // as the job numbers it
  std::string_view desc;    // what people call it
  std::vector<Work> works;  // by rank
};

// In order of description and name; groups without a name are left out.
std::vector<GroupWorks> CollectWorks(const Model& model, const Talk& talk);

// "all_reduce 16 of mesh_dp"; of a group without description "all_reduce 16 of group 8".
std::string WorkInWords(const GroupWorks& group, const Work& work);

// As other analyses spell it: ALLREDUCE is all_reduce.
std::string OpInWords(std::string_view op);

// The group as a finding names it; its ranks are those that speak of it.
GroupRef ToRef(const GroupWorks& group);

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
