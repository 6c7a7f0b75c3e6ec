// Causes of lost time in words.
#include <fmt/format.h>

#include "analyses/cost/fixes.h"
#include "base/text/rank_list.h"

namespace debrief::analyses::cost {

namespace {

// What the others wait for.
std::string CulpritInWords(const FixKey& key, bool by_device) {
  switch (key.reason) {
    case State::kCompute:
      return fmt::format("rank {}'s {}", key.culprit, by_device ? "GPU work" : "computing");
    case State::kTransfer:
      return fmt::format("rank {}'s other communication", key.culprit);
    case State::kCompile:
      return fmt::format("rank {}'s compiling", key.culprit);
    case State::kData:
      return fmt::format("rank {}'s data loading", key.culprit);
    case State::kSync:
      return fmt::format("rank {}'s waiting for its own device", key.culprit);
    case State::kAllocation:
      return fmt::format("rank {}'s allocation of device memory", key.culprit);
    case State::kHost:
      return fmt::format("rank {}'s host", key.culprit);
    case State::kPace:
      return fmt::format("the time between rank {}'s kernels", key.culprit);
    default:
      return fmt::format("rank {}, for a reason that is not recorded,", key.culprit);
  }
}

std::string_view Idle(State reason) {
  switch (reason) {
    case State::kData:
      return "the data loader is waited for";
    case State::kSync:
      return "the host waits for the device before it launches more";
    case State::kAllocation:
      return "device memory is allocated";
    case State::kHost:
      return "the host launches too late";
    case State::kPace:
      return "time passes between queued kernels";
    default:
      return "devices idle for a reason that is not recorded";
  }
}

std::vector<int32_t> Known(const std::set<int32_t>& ranks) {
  std::vector<int32_t> known(ranks.begin(), ranks.end());
  std::erase(known, kNone32);
  return known;
}

std::string On(const Fix& fix) {
  std::vector<int32_t> ranks = Known(fix.ranks);
  return ranks.empty() ? std::string() : " on " + RanksInWords(ranks);
}

std::string Compiling(const FixKey& key, const Fix& fix) {
  std::string text = "compiling";
  if (!key.function.empty()) text += fmt::format(" {}", key.function);
  if (!key.file.empty()) {
    std::string_view name = key.file.substr(key.file.rfind('/') + 1);
    text += fmt::format(" ({}:{})", name, key.line == kNone32 ? 0 : key.line);
  }
  if (fix.again) text += " again";
  return text + On(fix) + (fix.alone ? " alone" : "");
}

}  // namespace

std::string InWords(const FixKey& key, const Fix& fix) {
  if (key.kind == FixKind::kCompile) return Compiling(key, fix);
  if (key.kind == FixKind::kFirstStep)
    return "the first recorded step idles longer than the others" + On(fix);
  if (key.kind == FixKind::kIdle) return std::string(Idle(key.reason)) + On(fix);
  std::vector<int32_t> ranks = Known(fix.ranks);
  std::string who =
      ranks.size() == 1 ? fmt::format("rank {}", ranks[0]) : fmt::format("{} ranks", ranks.size());
  return fmt::format("{} makes {} wait", CulpritInWords(key, fix.by_device), who);
}

}  // namespace debrief::analyses::cost
