// What recorded ops tell, over all inputs and ranks: the answers of `debrief ops`.
//
// Sums by name and device are those of the analyses (tables op_summary, op_device). With
// Behaviour::kReference the ops are first brought into the form that the first op traces had
// (compat_trace.cc), and everything is computed from that. Cost: one pass over the ops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "debrief/op_trace.hpp"
#include "model/model.h"
#include "outputs/output.h"

namespace debrief::outputs::op_answers {

struct OpsOptions {
  op_trace::Behaviour behaviour = op_trace::Behaviour::kCorrect;
  size_t top = 10;               // rows of a list in the text; 0: all
  uint64_t hot_bytes = 1 << 20;  // outputs above it are hot spots
  double min_ratio = 0;          // communication below this share of the op time is left out
  int width = 100;
};

// One op of a list.
struct ListedOp {
  std::string operation;
  std::optional<std::string> device;
  std::optional<int32_t> rank;
  std::optional<int64_t> thread;
  std::optional<int64_t> duration_ns;
  int64_t self_ns = 0;
  uint64_t bytes = 0;
  uint64_t step = 0;
};

// Ops of one thread that had not ended, outermost first.
struct OpenOps {
  std::optional<int32_t> rank;
  int64_t pid = 0;
  int64_t thread = 0;
  bool closed = false;  // the recording was, by the program
  bool copied = false;  // by the program, while it ran
  std::vector<std::string> operations;
  std::vector<int64_t> open_for_ns;
};

struct Losses {
  std::optional<int32_t> rank;
  std::string path;
  int64_t overwritten = 0, dropped = 0, names = 0;
  std::optional<int64_t> from_ns, to_ns;  // since the recording began
};

struct OpAnswers {
  size_t inputs = 0;
  std::vector<int32_t> ranks;
  uint64_t count = 0;
  int64_t op_time_ns = 0;
  std::optional<int64_t> wall_ns;  // first begin to last end, inputs added up
  uint64_t bytes = 0;
  uint64_t largest_bytes = 0;
  std::optional<int64_t> live_peak_bytes;  // most at once on one device, where memory was recorded
  uint64_t bytes_assumed = 0;              // ops whose type was not told
  uint64_t without_duration = 0;           // ops

  std::vector<op_trace::OpSummary> ops;  // most self time first
  std::vector<op_trace::DeviceSummary> devices;
  bool has_busy = false;
  uint64_t without_device = 0;  // ops
  std::optional<op_trace::LoadBalance> balance;
  std::vector<op_trace::CommunicationShare> communication;
  int64_t communication_ns = 0;  // self time
  double communication_of_op_time = 0;
  std::optional<double> communication_of_wall;
  std::vector<ListedOp> slowest;                // by self time, at most `top`
  std::vector<ListedOp> hot_spots;              // in the order of the trace
  std::map<std::string, std::string> metadata;  // what the programs told about themselves
  std::vector<Losses> losses;
  std::vector<OpenOps> open;
};

OpAnswers AnswerOps(const Model& model, const OpsOptions& options);

void WriteText(const OpAnswers& answers, const OpsOptions& options, TextSink& out);
void WriteCsv(const OpAnswers& answers, TextSink& out);
void WriteJson(const OpAnswers& answers, TextSink& out);
// The ops themselves, as the first op traces wrote them.
void WriteCompatJson(const Model& model, TextSink& out);
// Collapsed stacks.
void WriteStacks(const Model& model, op_trace::Behaviour behaviour, TextSink& out);

// Recorded ops in the form that the first op traces had: flat, eight bytes an element, one element
// where no shape was told. Ops that come from such a trace stay as they are.
//
// Entry i is row i of recorded_op.
std::vector<op_trace::Entry> CompatEntries(const Model& model);
// Of all inputs; of a key that several have, the last counts.
std::map<std::string, std::string> MetadataOf(const Model& model);

}  // namespace debrief::outputs::op_answers
