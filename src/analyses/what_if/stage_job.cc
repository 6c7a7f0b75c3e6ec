#include "analyses/what_if/stage_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tables/timeline_process.h"
#include "tables/timeline_stage_op.h"

namespace debrief::analyses::what_if {

namespace {

constexpr int64_t kTracksOfRank = 5;  // compute and four kinds of communication: tid = 5 * rank + n
constexpr int64_t kMostWorkers = 1 << 20;
constexpr size_t kNoWorker = SIZE_MAX;

// The number behind `word`, for example of "PP rank " in "PP rank 2, TP rank 0, compute".
int64_t NumberBehind(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return kNone64;
  text.remove_prefix(at + word.size());
  int64_t number = kNone64;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number >= 0 && number < kMostWorkers ? number : kNone64;
}

struct WorkerPlace {
  int64_t replica = kNone64, stage = kNone64, rank = kNone64;
  bool IsKnown() const { return replica != kNone64 && stage != kNone64 && rank != kNone64; }
};

// One op as its row tells it, with the places of its worker and step in their lists.
struct RawOp {
  uint32_t step = 0;
  uint32_t worker = 0;  // replica * stages + stage
  OpType type = OpType::kForward;
  int64_t number = 0;
  size_t row = 0;  // of timeline_stage_op
};

class StageJobReader {
 public:
  explicit StageJobReader(const timeline::TimelineView& view)
      : view_(view),
        table_(view.model.tables.Get<TimelineStageOpTable>()),
        rows_(timeline::RowsOf(table_, view.who.input)) {}

  StageJob Read() {
    if (FindWorkers() && ReadOps() && FindOps()) {
      Fill();
      LeaveOutSteps();
    }
    return std::move(job_);
  }

 private:
  bool Fail(std::string why) {
    job_.why_not = std::move(why);
    return false;
  }

  int32_t TrackOf(size_t row) const {
    return view_.track[timeline::TimelineView::At(table_.slice[row])];
  }

  WorkerPlace PlaceOf(size_t track_row) const {
    const auto& tracks = view_.model.tables.Get<TimelineTrackTable>();
    const auto& processes = view_.model.tables.Get<TimelineProcessTable>();
    const auto of_input = timeline::RowsOf(processes, view_.who.input);
    const size_t process = of_input.begin + static_cast<size_t>(tracks.process[track_row]);
    const std::string_view pid = view_.model.pools.Text(processes.pid[process]);
    const int64_t tid = NumberBehind(view_.model.pools.Text(tracks.tid[track_row]), "");
    return {NumberBehind(pid, ""),
            NumberBehind(view_.model.pools.Text(tracks.name[track_row]), "PP rank "),
            tid == kNone64 ? kNone64 : tid / kTracksOfRank};
  }

  // Replicas and stages of the tracks that have ops; of several ranks in one cell the lowest.
  bool FindWorkers() {
    std::vector<bool> used(view_.tracks.size());
    for (size_t row = rows_.begin; row < rows_.end; ++row)
      used[static_cast<size_t>(TrackOf(row))] = true;
    std::map<size_t, WorkerPlace> places;  // by track
    std::set<int64_t> replicas, stages;
    for (size_t track = 0; track < used.size(); ++track) {
      if (!used[track]) continue;
      const WorkerPlace place = PlaceOf(view_.tracks.begin + track);
      if (!place.IsKnown()) return Fail("a track does not name its stage (PP rank N)");
      places[track] = place;
      replicas.insert(place.replica);
      stages.insert(place.stage);
    }
    job_.replicas = replicas.size();
    job_.stages = stages.size();
    if (job_.replicas * job_.stages > places.size())
      return Fail(fmt::format("{} x {} workers, of which not all are recorded", job_.replicas,
                              job_.stages));
    job_.ranks.assign(job_.replicas * job_.stages, kNone32);
    worker_of_.assign(used.size(), kNoWorker);
    auto index = [](const std::set<int64_t>& set, int64_t value) {
      return static_cast<size_t>(std::distance(set.begin(), set.find(value)));
    };
    for (const auto& [track, place] : places) {
      const size_t worker =
          index(replicas, place.replica) * job_.stages + index(stages, place.stage);
      worker_of_[track] = worker;
      int32_t& rank = job_.ranks[worker];
      if (rank == kNone32 || place.rank < rank) rank = static_cast<int32_t>(place.rank);
    }
    for (const auto& [track, place] : places) {
      if (job_.ranks[worker_of_[track]] != place.rank) worker_of_[track] = kNoWorker;
    }
    if (std::ranges::count(job_.ranks, kNone32) > 0) return Fail("workers are not recorded");
    return true;
  }

  bool ReadOps() {
    std::set<int64_t> steps;
    for (size_t row = rows_.begin; row < rows_.end; ++row) {
      const bool is_known = row > rows_.begin && table_.step[row] == table_.step[row - 1];
      if (!is_known) steps.insert(table_.step[row]);
    }
    job_.steps.assign(steps.begin(), steps.end());
    if (job_.lanes() * job_.stages > rows_.size()) return Fail("steps with no more than one op");
    timeline::OfName<std::optional<OpType>> type_of(view_.model.pools, TypeOf);
    for (size_t row = rows_.begin; row < rows_.end; ++row) {
      const size_t slice = timeline::TimelineView::At(table_.slice[row]);
      const size_t worker = worker_of_[static_cast<size_t>(TrackOf(row))];
      const auto type = type_of(view_.name[slice]);
      if (worker == kNoWorker || !type) continue;
      const auto step = std::ranges::lower_bound(job_.steps, table_.step[row]);
      raw_.push_back({static_cast<uint32_t>(step - job_.steps.begin()),
                      static_cast<uint32_t>(worker), *type, table_.seq[row], row});
    }
    return raw_.empty() ? Fail("no op of a known name") : true;
  }

  // How many ops of each type a worker of each stage has, in most of its steps.
  bool FindOps() {
    const size_t workers = job_.ranks.size();
    std::vector<uint32_t> counts(job_.steps.size() * workers * kOpTypes);
    for (const RawOp& op : raw_)
      ++counts[(op.step * workers + op.worker) * kOpTypes + IndexOf(op.type)];
    for (size_t stage = 0; stage < job_.stages; ++stage) {
      for (size_t type = 0; type < kOpTypes; ++type) {
        std::map<uint32_t, size_t> times;
        for (size_t at = stage; at < job_.steps.size() * workers; at += job_.stages)
          ++times[counts[at * kOpTypes + type]];
        const auto most = std::ranges::max_element(
            times, {}, [](const auto& count_and_times) { return count_and_times.second; });
        job_.ranges.push_back({job_.ops.size(), most->first});
        for (size_t number = 0; number < most->first; ++number)
          job_.ops.push_back({static_cast<OpType>(type), stage, number});
      }
    }
    if (job_.ops.size() * job_.lanes() > 4 * raw_.size())
      return Fail("the steps and workers have too different ops");
    return true;
  }

  void Fill() {
    const size_t cells = job_.ops.size() * job_.lanes();
    job_.start_ns.assign(cells, kNone64);
    job_.length_ns.assign(cells, 0);
    is_bad_.assign(job_.steps.size(), false);
    for (const RawOp& raw : raw_) {
      const size_t stage = raw.worker % job_.stages;
      const StageJob::Range range = job_.Of(raw.type, stage);
      if (raw.number < 0 || raw.number >= static_cast<int64_t>(range.count)) {
        is_bad_[raw.step] = true;
        continue;
      }
      const size_t op = range.begin + static_cast<size_t>(raw.number);
      const size_t at =
          job_.At(op, raw.step * job_.replicas + static_cast<size_t>(raw.worker) / job_.stages);
      const size_t slice = timeline::TimelineView::At(table_.slice[raw.row]);
      if (job_.start_ns[at] != kNone64) is_bad_[raw.step] = true;
      job_.start_ns[at] = view_.start[slice];
      job_.length_ns[at] = view_.duration[slice];
      job_.ops[op].chunk = std::max(0, table_.chunk[raw.row]);
      job_.ops[op].microbatch = table_.microbatch[raw.row];
    }
    for (size_t op = 0; op < job_.ops.size(); ++op) {
      for (size_t lane = 0; lane < job_.lanes(); ++lane) {
        if (job_.start_ns[job_.At(op, lane)] == kNone64) is_bad_[lane / job_.replicas] = true;
      }
    }
  }

  void LeaveOutSteps() {
    const auto bad = static_cast<size_t>(std::ranges::count(is_bad_, true));
    if (bad == 0) return;
    if (2 * bad > job_.steps.size()) {
      Fail(fmt::format("{} of {} steps lack ops that the others have", bad, job_.steps.size()));
      return;
    }
    const size_t before = job_.lanes();
    StageJob whole = std::move(job_);
    job_ = {.replicas = whole.replicas,
            .stages = whole.stages,
            .ranks = std::move(whole.ranks),
            .ops = std::move(whole.ops),
            .steps_left_out = bad,
            .ranges = std::move(whole.ranges)};
    for (size_t step = 0; step < whole.steps.size(); ++step) {
      if (!is_bad_[step]) job_.steps.push_back(whole.steps[step]);
    }
    for (size_t at = 0; at < whole.start_ns.size(); ++at) {
      if (is_bad_[at % before / job_.replicas]) continue;
      job_.start_ns.push_back(whole.start_ns[at]);
      job_.length_ns.push_back(whole.length_ns[at]);
    }
  }

  const timeline::TimelineView& view_;
  const TimelineStageOpTable& table_;
  timeline::RowRange rows_;
  std::vector<size_t> worker_of_;  // by track
  std::vector<RawOp> raw_;
  std::vector<bool> is_bad_;  // by step
  StageJob job_;
};

}  // namespace

StageJob ReadStageJob(const timeline::TimelineView& view) { return StageJobReader(view).Read(); }

}  // namespace debrief::analyses::what_if
