// align_dialects: files of Flex and of torch that recorded the same rank come on one clock, that of
// the torch file, which the programs around it share. Not with --compat and not with -M.
//
// Both name the same kernels ("mul_2 Cmpt Exec", "mul_[N]" with fn_idx 2), so one sequence is laid
// over the other (model/accel/clock_match.h) and everything in the Flex file is moved by the
// distance. Where one recorded more kernels than the other, that is said.
//
// Cost: O(n log n) in the kernels of files that are to be aligned; nothing where all files are of
// one kind.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "accel/passes/passes.h"
#include "accel/passes/utilization.h"
#include "model/accel/clock_match.h"

namespace debrief::accel {
namespace {

bool BothDialects(const Run& run) {
  const auto of = [&](Dialect dialect) {
    return std::any_of(run.jobs.begin(), run.jobs.end(),
                       [&](const Job& job) { return job.dialect == dialect; });
  };
  return of(Dialect::kFlex) && of(Dialect::kTorch);
}

// The kernels of one rank, and the files that its Flex kernels are in.
struct Rank {
  std::vector<TimedName> flex, torch;
  std::vector<uint32_t> flex_jobs;
};

ByValue<Rank> Collect(const EventList& events, Run& run) {
  ByValue<Rank> ranks;
  for (const Event& event : events) {
    if (!IsDeviceKernel(event, run)) continue;
    Rank& rank = ranks[RankOf(event)];
    const auto name = static_cast<uint32_t>(run.Intern(KernelName(event, run)));
    if (run.DialectOf(event) == Dialect::kTorch) {
      rank.torch.push_back({event.ts, name});
    } else {
      rank.flex.push_back({event.ts, name});
      if (std::find(rank.flex_jobs.begin(), rank.flex_jobs.end(), event.job) ==
          rank.flex_jobs.end()) {
        rank.flex_jobs.push_back(event.job);
      }
    }
  }
  return ranks;
}

void SortByTs(std::vector<TimedName>& names) {
  std::stable_sort(names.begin(), names.end(),
                   [](const TimedName& a, const TimedName& b) { return a.ts < b.ts; });
}

void Say(const Value& rank, const Rank& kernels, const ClockMatch& match, Run& run) {
  const std::string who = "ALIGN: rank " + rank.AsText(run.strings) + ": ";
  if (match.matched == 0) {
    run.console.Warning(who +
                        "the Flex and the torch trace have no kernels in common; their clocks "
                        "stay apart. Check that both are of the same run.");
    return;
  }
  run.console.Info(fmt::format(
      "{}Flex events moved by {:.3f} us to the clock of the torch trace ({} kernels matched, "
      "median deviation {:.3f} us)",
      who, match.offset_us, match.matched, match.spread_us));
  if (kernels.flex.size() != kernels.torch.size()) {
    run.console.Warning(fmt::format(
        "{}{} kernels in the Flex trace, {} in the torch trace: aligned by the {} that fit best{}",
        who, kernels.flex.size(), kernels.torch.size(), match.matched,
        match.equally_good > 1 ? fmt::format("; {} ways fit as well and differ by whole iterations",
                                             match.equally_good - 1)
                               : std::string()));
  }
}

void Move(EventList& events, const std::map<uint32_t, double>& offsets, Run& run) {
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

}  // namespace

void AlignDialects(EventList& events, Run& run) {
  if (!BothDialects(run)) return;
  std::map<uint32_t, double> offsets;  // by file
  for (auto& [rank, kernels] : Collect(events, run)) {
    if (kernels.flex.empty() || kernels.torch.empty()) continue;
    SortByTs(kernels.flex);
    SortByTs(kernels.torch);
    const ClockMatch match = MatchClocks(kernels.torch, kernels.flex);
    Say(rank, kernels, match, run);
    if (match.matched == 0) continue;
    for (const uint32_t job : kernels.flex_jobs) offsets.try_emplace(job, match.offset_us);
  }
  if (!offsets.empty()) Move(events, offsets, run);
}

}  // namespace debrief::accel
