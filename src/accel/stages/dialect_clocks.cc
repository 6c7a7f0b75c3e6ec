// align_dialects: files of Flex and of PyTorch's profiler that recorded the same rank come on one
// clock, that of PyTorch, which the programs around it share. Not with --compat and not with -M.
//
//   1. Where both name the same kernels ("mul_2 Cmpt Exec", "mul_[N]" with fn_idx 2), one sequence
//      is laid over the other (accel/clock_match.h).
//   2. Else from causality (accel/causality.h): the device works behind the launches that PyTorch
//      shows, and ends before the calls that wait for it come back.
//
// Everything in the Flex file is moved by the distance. What is left open is said, and so is that
// nothing could be done.
//
// Cost: O(n log n) in the kernels of files that are to be aligned; nothing where all files are of
// one kind.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accel/causality.h"
#include "accel/clock_match.h"
#include "accel/run.h"
#include "accel/stages/stages.h"

namespace debrief::accel {

namespace {

bool BothDialects(const Run& run) {
  const auto of = [&](Dialect dialect) {
    return std::any_of(run.jobs.begin(), run.jobs.end(),
                       [&](const Job& job) { return job.dialect == dialect; });
  };
  return of(Dialect::kFlex) && of(Dialect::kTorch);
}

// What two runtimes recorded of one rank, and the files that Flex wrote.
struct RankRecords {
  std::vector<TimedName> flex, torch;  // kernels
  std::vector<WorkSpan> work;          // all that the device did, as Flex has it
  std::vector<WorkSpan> kernels;       // kernels of it
  std::vector<WorkSpan> launches, waits;
  std::vector<uint32_t> flex_jobs;
  bool has_torch = false;
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls of the runtime by their names: cudaLaunchKernel, aiuLaunchComputeStream;
// cudaDeviceSynchronize, aiuScheduleWait.
void AddCall(const Event& event, const Run& run, RankRecords& rank) {
  const std::string_view name = run.Text(event.name), cat = run.Text(event.cat);
  const bool is_call =
      cat.ends_with("_runtime") || cat.ends_with("_driver") || name.starts_with("aiu");
  if (!is_call) return;
  const WorkSpan span = {event.ts, event.end()};
  if (Contains(name, "Launch")) rank.launches.push_back(span);
  if (Contains(name, "Synchronize") || Contains(name, "Wait")) rank.waits.push_back(span);
}

void AddFlexEvent(const Event& event, Run& run, RankRecords& rank) {
  if (!IsDeviceEvent(event, run)) return;
  rank.work.push_back({event.ts, event.end()});
  if (std::ranges::find(rank.flex_jobs, event.job) == rank.flex_jobs.end())
    rank.flex_jobs.push_back(event.job);
  if (!IsKernel(event, run)) return;
  rank.kernels.push_back(rank.work.back());
  rank.flex.push_back({event.ts, static_cast<uint32_t>(run.Intern(KernelName(event, run)))});
}

void AddTorchEvent(const Event& event, Run& run, RankRecords& rank) {
  rank.has_torch = true;
  if (IsDeviceKernel(event, run)) {
    rank.torch.push_back({event.ts, static_cast<uint32_t>(run.Intern(KernelName(event, run)))});
  } else {
    AddCall(event, run, rank);
  }
}

ByValue<RankRecords> RecordsByRank(const EventList& events, Run& run) {
  ByValue<RankRecords> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    RankRecords& rank = ranks[RankOf(event)];
    if (run.DialectOf(event) == Dialect::kTorch) {
      AddTorchEvent(event, run, rank);
    } else {
      AddFlexEvent(event, run, rank);
    }
  }
  for (auto& [unused, rank] : ranks) {
    for (std::vector<TimedName>* names : {&rank.flex, &rank.torch})
      std::ranges::stable_sort(*names, {}, &TimedName::ts);
    for (std::vector<WorkSpan>* calls : {&rank.launches, &rank.waits})
      std::ranges::stable_sort(*calls, {}, &WorkSpan::begin);
  }
  return ranks;
}

void MoveJobs(EventList& events, const std::map<uint32_t, double>& offsets, Run& run) {
  std::vector<bool> moved(run.stamps.size(), false);
  for (Event& event : events) {
    const auto at = offsets.find(event.job);
    if (at == offsets.end()) continue;
    event.ts += at->second;
    Stamps* stamps = run.StampsOf(event);
    if (stamps == nullptr || moved[event.stamps]) continue;
    moved[event.stamps] = true;
    for (double& ts : stamps->all) ts += at->second;
  }
}

class DialectAlignment {
 public:
  DialectAlignment(const Value& rank, const RankRecords& records, Run& run)
      : records_(records), run_(run), who_("ALIGN: rank " + rank.AsText(run.strings) + ": ") {}

  // What to add to the times of the Flex files; none when nothing is known.
  std::optional<double> Find() const {
    if (!records_.has_torch) {
      run_.console.Info(who_ + "no PyTorch trace; the Flex trace stays on its clock");
      return std::nullopt;
    }
    const ClockMatch match = MatchClocks(records_.torch, records_.flex);
    if (match.matched > 0) return LogMatch(match);
    return FromCausality();
  }

 private:
  double LogMatch(const ClockMatch& match) const {
    run_.console.Info(fmt::format(
        "{}Flex events moved by {:.3f} us to the clock of the PyTorch trace: {} kernels matched, "
        "median residual {:.3f} us",
        who_, match.offset_us, match.matched, match.spread_us));
    if (records_.flex.size() != records_.torch.size()) {
      run_.console.Warning(fmt::format(
          "{}{} kernels in the Flex trace, {} in the PyTorch trace: aligned by the {} that fit "
          "best{}",
          who_, records_.flex.size(), records_.torch.size(), match.matched,
          match.equally_good > 1
              ? fmt::format("; {} ways fit as well and differ by whole iterations",
                            match.equally_good - 1)
              : std::string()));
    }
    return match.offset_us;
  }

  std::optional<double> FromCausality() const {
    const std::vector<WorkSpan> windows = WindowsOf(records_.launches, records_.waits);
    if (windows.empty()) {
      Refuse("the two have no kernels in common, and the PyTorch trace shows no launches");
      return std::nullopt;
    }
    Placement placement = PlaceWork(records_.work, windows);
    // Copies may be put on their way by other calls than launches.
    if (!placement.found) placement = PlaceWork(records_.kernels, windows);
    if (!placement.found) {
      Refuse(
          fmt::format("the two have no kernels in common, and wherever the Flex trace is put, "
                      "{} of {} pieces of work lie before their launch or behind the call that "
                      "waits for them",
                      placement.outside, placement.pieces));
      return std::nullopt;
    }
    LogPlacement(placement);
    if (placement.agrees) return std::nullopt;
    return placement.offset_us;
  }

  void LogPlacement(const Placement& placement) const {
    const std::string residual =
        placement.is_bounded ? fmt::format("residual at most {:.3f} us", placement.residual_us)
                             : "residual unknown: no call waits for the device";
    const std::string from = fmt::format("from {} launches and {} waits", records_.launches.size(),
                                         records_.waits.size());
    if (placement.agrees) {
      run_.console.Info(fmt::format("{}the clocks of the Flex and the PyTorch trace agree ({}, {})",
                                    who_, from, residual));
    } else {
      run_.console.Info(
          fmt::format("{}Flex events moved by {:.3f} us to the clock of the PyTorch trace {}, {}",
                      who_, placement.offset_us, from, residual));
    }
    if (placement.outside > 0 || placement.equally_good > 1) {
      run_.console.Warning(fmt::format(
          "{}{} of {} pieces of work lie outside of launches and waits; {} other places allow as "
          "much",
          who_, placement.outside, placement.pieces, placement.equally_good - 1));
    }
  }

  void Refuse(const std::string& why) const {
    run_.console.Warning(who_ + "the Flex and the PyTorch trace stay on two clocks: " + why +
                         ". Check that both are of the same run.");
  }

  const RankRecords& records_;
  Run& run_;
  std::string who_;
};

}  // namespace

void AlignDialects(EventList& events, Run& run) {
  if (!BothDialects(run)) return;
  std::map<uint32_t, double> offsets;  // by file
  for (const auto& [rank, records] : RecordsByRank(events, run)) {
    if (records.work.empty()) continue;
    const auto offset = DialectAlignment(rank, records, run).Find();
    if (!offset) continue;
    for (const uint32_t job : records.flex_jobs) offsets.try_emplace(job, *offset);
  }
  if (!offsets.empty()) MoveJobs(events, offsets, run);
}

}  // namespace debrief::accel
