// What the tables tell about the ranks of one attempt, each in one pass.
#pragma once

#include <map>

#include "outputs/incident/incident.h"

namespace debrief::incident {

// One collective that did not complete.
struct Pending {
  int64_t from = kNone64;
  std::string words;
};

struct RankFacts {
  bool is_blamed = false;
  bool has_dump = false;
  bool has_data = false;
  int64_t clock = 0;            // how far its clock is ahead; taken off all times below
  int64_t first = kNone64;      // of anything that has a time
  int64_t last = kNone64;       // likewise
  int64_t last_done = kNone64;  // its last completed collective
  Pending pending;              // the oldest
  int64_t timeout = kNone64;
  int64_t ended = kNone64;
  std::string end_words;
  Span host;                // what its host did after that: from the last stack that has a time
  std::vector<Span> spans;  // compilations, and collectives that took long
  std::vector<Mark> marks;
  std::string untimed;  // what its output says without a time
};

struct Facts {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, RankFacts> ranks;
  int64_t restart = kNone64;     // when the next attempt began
  bool has_other_clock = false;  // times of the output cannot be compared with those of the dumps

  // Rows of a run with one job may be of no job in particular.
  bool Has(int32_t of_job, int32_t of_attempt) const {
    return (job == kNone32 || of_job == job) && (attempt == kNone32 || of_attempt == attempt);
  }
};

Facts GatherFacts(const Model& model, const Finding& finding);

// Collectives that lasted at least `least_ns` and touch the stretch, as spans of their ranks.
void AddLongCollectives(const Model& model, int64_t from, int64_t to, int64_t least_ns,
                        Facts& facts);

// The stretch of time that a picture shows.
struct Moment {
  int64_t at = kNone64;  // kNone64: nothing has a time
  std::string words;     // "all_reduce #16 of mesh_dp begins"
  int64_t from = 0;
  int64_t to = 0;
  std::vector<std::string> notes;
};
Moment FindMoment(const Model& model, const Finding& finding, const Facts& facts);

std::vector<Row> MakeRows(const Facts& facts, const Moment& moment);

// Puts the blamed first and makes one row of ranks that behave alike where there are too many.
void FoldRows(int64_t from, int64_t to, std::vector<Row>& rows);

// Steps by rank; empty without a profile that has steps.
Incident StepsIncident(const Model& model, const Finding& finding);

// "Rank 5" or "Ranks 0-3", and what follows as words for a label.
std::string RowLabel(const Row& row);

}  // namespace debrief::incident
