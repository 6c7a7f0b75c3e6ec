// Which rank's CUDA failed first? Profilers that record what calls return show errors that end a
// process: its context is lost, and every later call returns the same. Errors that programs recover
// from (no memory for a larger cache, a peer that is enabled already) are not told.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "tables/cuda_call_error.h"

namespace debrief::analyses::profile_cuda_errors {

namespace {

struct FatalError {
  int32_t code;
  std::string_view words;
  bool is_hardware = false;
};

constexpr std::array<FatalError, 12> kFatal = {{{214, "uncorrectable ECC error", true},
                                                {220, "uncorrectable NVLink error", true},
                                                {700, "illegal memory access"},
                                                {702, "kernel timed out"},
                                                {710, "device-side assert"},
                                                {714, "hardware stack error"},
                                                {715, "illegal instruction"},
                                                {716, "misaligned address"},
                                                {717, "invalid address space"},
                                                {718, "invalid program counter"},
                                                {719, "unspecified launch failure"},
                                                {999, "unknown error"}}};

const FatalError* FatalOf(int32_t code) {
  const auto* found =
      std::ranges::find_if(kFatal, [&](const FatalError& each) { return each.code == code; });
  return found == kFatal.end() ? nullptr : found;
}

// The first error of each timeline, by attempt of a job.
using Attempt = std::pair<int32_t, int32_t>;
using FirstErrors = std::map<Attempt, std::map<int32_t, size_t>>;  // input -> row

FirstErrors FindFirst(const CudaCallErrorTable& errors) {
  FirstErrors first;
  for (size_t row = 0; row < errors.size(); ++row) {
    if (FatalOf(errors.code[row]) == nullptr) continue;
    auto& of_attempt = first[{errors.job[row], errors.attempt[row]}];
    auto [found, is_new] = of_attempt.try_emplace(errors.input[row], row);
    if (!is_new && errors.start_ns[row] < errors.start_ns[found->second]) found->second = row;
  }
  return first;
}

std::string Who(int32_t rank) {
  return rank == kNone32 ? std::string("A process") : fmt::format("Rank {}", rank);
}

Evidence Describe(const Model& model, size_t row) {
  const auto& errors = model.tables.Get<CudaCallErrorTable>();
  return {
      .text = fmt::format("{}: {} on thread {} returned {}", Who(errors.rank[row]),
                          model.pools.Text(errors.call[row]), errors.tid[row], errors.code[row]),
      .table = "cuda_call_error",
      .rows = {static_cast<int64_t>(row)}};
}

// What failed first may be why others did; clocks of hosts may differ by less than that.
Finding MakeFinding(const Model& model, const Attempt& attempt, const std::vector<size_t>& rows) {
  const auto& errors = model.tables.Get<CudaCallErrorTable>();
  const size_t first = rows.front();
  const FatalError& error = *FatalOf(errors.code[first]);
  Finding finding;
  finding.rule = "profile.cuda_error";
  finding.severity = Severity::kError;
  finding.role = Role::kCause;
  std::tie(finding.job, finding.attempt) = attempt;
  if (errors.rank[first] != kNone32) finding.ranks = {errors.rank[first]};
  finding.headline = fmt::format("{}: {} returned CUDA error {} ({})", Who(errors.rank[first]),
                                 model.pools.Text(errors.call[first]), error.code, error.words);
  constexpr size_t kMostShown = 8;
  for (size_t i = 0; i < std::min(rows.size(), kMostShown); ++i)
    finding.evidence.push_back(Describe(model, rows[i]));
  finding.confidence = rows.size() == 1 ? 0.9 : 0.7;
  finding.why =
      rows.size() == 1
          ? "the profile recorded what the call returned; this error ends the process"
          : fmt::format("{} processes have such an error, and this one had it first", rows.size());
  finding.next_step =
      error.is_hardware
          ? "Take this GPU out of use and have it checked (nvidia-smi -q, dmesg)."
          : "Run this rank with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find the "
            "kernel: the call that returned the error need not be the one that caused it.";
  return finding;
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& errors = model.tables.Get<CudaCallErrorTable>();
  for (const auto& [attempt, by_input] : FindFirst(errors)) {
    std::vector<size_t> rows;
    for (const auto& [input, row] : by_input) rows.push_back(row);
    std::ranges::sort(rows, [&](size_t a, size_t b) {
      return std::tuple(errors.start_ns[a], a) < std::tuple(errors.start_ns[b], b);
    });
    result.findings.push_back(MakeFinding(model, attempt, rows));
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_cuda_errors",
               .sentence = "Which rank's CUDA failed first?",
               .example = "Rank 3: cudaStreamSynchronize returned CUDA error 700 (illegal memory "
                          "access)",
               .needs = kTableNames<CudaCallErrorTable>,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_cuda_errors
