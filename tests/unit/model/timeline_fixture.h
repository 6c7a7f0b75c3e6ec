// Timelines made by hand, through the writer and the joiner that importers use.
//
//   TimelineFixture timeline;
//   int32_t thread = timeline.AddThread();
//   int32_t stream = timeline.AddStream(7);
//   timeline.AddSlice(thread, {"cudaLaunchKernel", timeline::kRuntime, 0, 5, .correlation = 1});
//   timeline.AddSlice(stream, {"gemm", timeline::kKernel, 9, 20, .correlation = 1});
//   Model model = timeline.Build();
//
// Slices are numbered anew when they are sorted: find them by name (SliceNamed).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/schedule.h"
#include "model/model.h"
#include "model/timeline/kinds.h"
#include "model/timeline/view.h"
#include "model/timeline/writer.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"

namespace debrief {

struct TestSlice {
  std::string_view name;
  std::string_view kind;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t correlation = kNone64;
  int64_t external_id = kNone64;
  std::string_view category = {};
};

// One timeline; one part of a file unless NextPart() begins another.
class TimelineFixture {
 public:
  explicit TimelineFixture(const Identity& who = {.input = 0, .job = 0, .attempt = 0, .rank = 0})
      : who_(who), joiner_(who) {
    NextPart();
  }

  // What follows goes into another part of the file; tracks have to be named again.
  void NextPart() {
    Join();
    part_ = std::make_unique<Part>();
    writer_ = std::make_unique<timeline::TimelineWriter>(who_, *part_);
    streams_.clear();
  }

  int32_t AddThread(std::string_view tid = "1", std::string_view pid = "100") {
    return writer_->Track(pid, tid, timeline::kThread);
  }

  // A stream; slices on it get a row in timeline_device_work.
  int32_t AddStream(int64_t stream, int32_t device = 0) {
    int32_t track =
        writer_->Track(std::to_string(device), std::to_string(stream), timeline::kStream);
    writer_->tracks().device[static_cast<size_t>(track)] = device;
    writer_->tracks().stream[static_cast<size_t>(track)] = stream;
    streams_.push_back({track, device, stream});
    return track;
  }

  int32_t AddSlice(int32_t track, const TestSlice& slice) {
    int32_t number = writer_->AddSlice(RowOf(track, slice));
    for (const Stream& stream : streams_) {
      if (stream.track != track) continue;
      auto work = writer_->NewRow<TimelineDeviceWorkRow>();
      work.slice = number;
      work.device = stream.device;
      work.stream = stream.stream;
      part_->tables.Edit<TimelineDeviceWorkTable>().Add(work);
      break;
    }
    return number;
  }

  int32_t AddBegin(int32_t track, const TestSlice& slice, int64_t id = kNone64) {
    return writer_->AddBegin(RowOf(track, slice), id);
  }

  void AddEnd(int32_t track, int64_t time_ns, int64_t id = kNone64) {
    writer_->AddEnd(RowOf(track, {"", timeline::kOther, time_ns}), id);
  }

  void AddFlow(int32_t track, int64_t time_ns, int64_t id, std::string_view phase) {
    auto row = writer_->NewRow<TimelineFlowRow>();
    row.track = track;
    row.time_ns = time_ns;
    row.name = writer_->Intern("fwdbwd");
    row.id = id;
    row.phase = writer_->Intern(phase);
    part_->tables.Edit<TimelineFlowTable>().Add(row);
  }

  timeline::TimelineWriter& writer() { return *writer_; }
  Part& part() { return *part_; }

  // Joins the timeline to `model`, after those of smaller inputs.
  void BuildInto(Model& model, const timeline::FileFacts& facts = {.producer = "kineto"}) {
    Join();
    counts_ = joiner_.Finish(facts, whole_);
    model.Append(std::move(whole_));
  }

  Model Build(const timeline::FileFacts& facts = {.producer = "kineto"}) {
    Model model;
    BuildInto(model, facts);
    return model;
  }

  // Of Build().
  const timeline::EdgeCounts& counts() const { return counts_; }

 private:
  struct Stream {
    int32_t track, device;
    int64_t stream;
  };

  TimelineSliceRow RowOf(int32_t track, const TestSlice& slice) {
    auto row = writer_->NewRow<TimelineSliceRow>();
    row.track = track;
    row.name = writer_->Intern(slice.name);
    row.kind = writer_->Intern(slice.kind);
    if (!slice.category.empty()) row.category = writer_->Intern(slice.category);
    row.start_ns = slice.start_ns;
    row.duration_ns = slice.duration_ns;
    row.correlation = slice.correlation;
    row.external_id = slice.external_id;
    return row;
  }

  void Join() {
    if (part_ == nullptr) return;
    joiner_.Merge(std::move(*part_), whole_);
    part_ = nullptr;
  }

  Identity who_;
  timeline::TimelineJoiner joiner_;
  std::unique_ptr<Part> part_;
  std::unique_ptr<timeline::TimelineWriter> writer_;
  std::vector<Stream> streams_;
  Part whole_;
  timeline::EdgeCounts counts_;
};

// Number of the first slice of that name; kNone32 when there is none.
inline int32_t SliceNamed(const timeline::TimelineView& view, std::string_view name) {
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (view.NameOf(slice) == name) return slice;
  }
  return kNone32;
}

// The tables of `analysis` join the model; its findings are returned.
inline std::vector<Finding> RunAnalysis(const Analysis& analysis, Model& model) {
  AnalysisResult result;
  if (!RunDeclared(analysis, model, result).ok()) return {};
  model.Append(std::move(result.part));
  return std::move(result.findings);
}

}  // namespace debrief
