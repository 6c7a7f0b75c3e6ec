// The incident picture: what each rank was doing from the last healthy moment to the end.
//
//   gather.cc   what the tables tell about each rank: collectives, compilations, exits, timeouts
//   moment.cc   when the ranks diverged, and which stretch of time is shown
//   rows.cc     one row a rank; ranks that behave alike share one, so that thousands fit
//   steps.cc    the same for slow jobs: steps by rank, and where their time goes
//   svg.cc      the drawing, for the report, for Markdown and for notebooks
//   sketch.cc   the same in one line of text
//
// Nothing is invented: a stretch without times is drawn as "not known", with what is known as
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace debrief::incident {

enum class Activity : uint8_t {
  kUnknown,     // nothing tells
  kSteps,       // computing and collectives that complete, too short to be told apart
  kComputing,   // not in a collective
  kCollective,  // in one that completed
  kWaiting,     // in one that never completed
  kTimedOut,    // after its watchdog gave up
  kCompiling,
  kLoading,
  kSaving,
  kCopying,
  kIdle,  // of a device
  kEnded,
  kCount,
};
// "waiting in a collective", for the legend. `is_slow`: in steps of a profile, where a collective
// is what no computing hides.
std::string_view ActivityWords(Activity activity, bool is_slow = false);

struct Span {
  int64_t from = 0;
  int64_t to = 0;
  Activity activity = Activity::kUnknown;
  std::string words;  // "all_reduce #16 of mesh_dp"
};

enum class MarkKind : uint8_t { kTimeout, kError, kExit, kRestart, kStep };

struct Mark {
  int64_t at = 0;
  MarkKind kind = MarkKind::kTimeout;
  std::string words;
};

struct Row {
  std::vector<int32_t> ranks;  // sorted
  bool is_blamed = false;
  std::vector<Span> spans;  // in order of time, without overlap
  std::vector<Mark> marks;
};

struct Incident {
  int32_t job = kNone32;
  std::string title;
  int64_t from = 0;  // nanoseconds since 1970
  int64_t to = 0;
  int64_t zero = kNone64;  // where the axis says 0: the divergence, or the first step
  std::string moment;      // what happened at zero; empty: no mark is drawn there
  std::vector<Row> rows;   // those with a blamed rank first
  std::vector<std::string> notes;
  bool is_slow = false;  // steps and where their time goes

  bool empty() const { return rows.empty(); }
};

// The picture of what `finding` is about; empty where nothing could be drawn.
Incident MakeIncident(const Model& model, const Finding& finding);

// `is_file`: a file of its own, with colours of its own for light and dark pages; otherwise it is a
// part of a page and takes its colour of text from there. No scripts, no style attributes.
std::string IncidentSvg(const Incident& incident, bool is_file);

// "ranks 0-3: ww[n]w  ([ ] blamed, n not in a collective, w waiting in a collective)": a letter for
// what each was doing at the end. Empty where that says nothing or has no room.
std::string IncidentSketch(const Incident& incident, size_t width);

// Every row as a sentence, for readers who do not see the picture.
std::vector<std::string> RowsInWords(const Incident& incident);
std::string IncidentInWords(const Incident& incident);

}  // namespace debrief::incident
