// What the rules of debrief doctor share: questions about settings, and the list they write into.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/strings.h"
#include "doctor/advice.h"

namespace debrief::doctor {

class Adviser {
 public:
  Adviser(const Setup& from, const std::optional<JobEvidence>& of) : setup(from), job(of) {}

  const Setup& setup;
  const std::optional<JobEvidence>& job;
  std::vector<Advice> advices;

  void Wrong(std::string subject, std::string why, std::vector<Fix> fixes = {}) {
    advices.push_back({AdviceState::kWrong, std::move(subject), std::move(why), std::move(fixes)});
  }
  void Missing(std::string subject, std::string why, std::vector<Fix> fixes) {
    advices.push_back(
        {AdviceState::kMissing, std::move(subject), std::move(why), std::move(fixes)});
  }
  void Ok(std::string subject, std::string why) {
    advices.push_back({AdviceState::kOk, std::move(subject), std::move(why), {}});
  }

  // Nothing is known of the version: both spellings are set then.
  bool IsSince(int major, int minor) const {
    return !setup.torch || *setup.torch >= TorchVersion{major, minor};
  }
  bool IsBefore(int major, int minor) const {
    return !setup.torch || *setup.torch < TorchVersion{major, minor};
  }
};

// "NAME=VALUE (line 3)"
inline std::string Shown(std::string_view name, const Setting& setting) {
  return fmt::format("{}={} ({})", name, setting.value, setting.where);
}

inline Fix SetVariable(std::string_view name, std::string_view value) {
  return {Fix::Kind::kVariable, std::string(name), std::string(value)};
}
inline Fix RemoveVariable(std::string_view name) {
  return {Fix::Kind::kRemove, std::string(name), ""};
}

// As PyTorch reads a switch; nothing when it would refuse to start.
inline std::optional<bool> SwitchOf(std::string value) {
  for (char& c : value) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, value) != words.end();
  };
  if (is_one_of({"1", "y", "yes", "t", "true"})) return true;
  if (is_one_of({"0", "n", "no", "f", "false"})) return false;
  return std::nullopt;
}

// A folder that each machine has for itself, and that often goes with the job.
inline bool IsNodeLocal(std::string_view path) {
  static constexpr std::string_view kLocal[] = {
      "/tmp/",          "/var/tmp/",      "/dev/shm/",    "/local/",     "/localscratch/",
      "/scratch/local", "/mnt/local",     "/mnt/nvme",    "/run/",       "$TMPDIR",
      "${TMPDIR",       "$SLURM_TMPDIR",  "${SLURM_TMPD", "$LOCAL_SCRA", "${LOCAL_SCRA",
      "$XDG_RUNTIME_D", "${XDG_RUNTIME_D"};
  return path == "/tmp" || std::ranges::any_of(kLocal, [&](std::string_view start) {
           return path.starts_with(start);
         });
}

// The rules, by what they are about.
void AdviseFlightRecorder(Adviser& adviser);
void AdviseWatchdog(Adviser& adviser);
void AdviseNccl(Adviser& adviser);
void AdviseOutput(Adviser& adviser);
void AdviseProcess(Adviser& adviser);
void AdviseTraces(Adviser& adviser);

}  // namespace debrief::doctor
