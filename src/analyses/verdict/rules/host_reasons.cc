// What monitors of GPUs and of NCCL say is why a rank is late, or gone.
#include <fmt/format.h>

#include <array>

#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

namespace {

constexpr std::array<std::string_view, 4> kStragglers = {"profile.straggler", "flight.straggler",
                                                         "host_bandwidth.straggler",
                                                         "host_bandwidth.slow_link"};

bool NamesOneRank(const Finding& finding) { return finding.ranks.size() == 1; }

// `effect` follows from `cause`, which is surer for it, and tells what `effect` says.
void FoldAsProof(Board& board, size_t cause, size_t effect, std::string_view because) {
  if (!board.Fold(cause, effect)) return;
  board.Support(cause, board.At(effect).confidence, because);
  const Finding& proof = board.At(effect);
  if (proof.evidence.empty()) return;
  board.At(cause).evidence.push_back(
      {proof.headline, proof.evidence[0].table, proof.evidence[0].rows});
}

// Is the finding that this rank did not come, died or is silent?
bool IsAboutItsEnd(const Finding& finding) {
  return finding.severity == Severity::kError &&
         (finding.rule.starts_with("text_hang.") || finding.rule.starts_with("flight.") ||
          finding.rule.starts_with("text_ras.") || finding.rule.starts_with("verdict."));
}

}  // namespace

// A GPU that runs slowly makes its rank late: the clock is the reason, whoever saw the rank late.
void HostExplainsStraggler(Board& board) {
  for (std::string_view rule : {"host_gpus.throttled", "host_links."}) {
    for (size_t reason : board.FindCauses(rule)) {
      for (std::string_view straggler : kStragglers) {
        for (size_t late : board.FindCauses(straggler)) {
          const std::vector<int32_t>& ranks = board.At(reason).ranks;
          if (ranks.empty() || !ContainsAll(board.At(late).ranks, ranks)) continue;
          FoldAsProof(board, reason, late, "others wait for this rank");
        }
      }
    }
  }
  // The profile tells what the rank did while others waited, Inspector that they did.
  for (std::string_view better : {"profile.straggler", "flight.straggler"}) {
    for (size_t profile : board.FindCauses(better)) {
      for (size_t inspector : board.FindCauses("host_bandwidth.straggler")) {
        if (board.At(profile).ranks == board.At(inspector).ranks)
          FoldAsProof(board, profile, inspector, "NCCL Inspector shows the same rank late");
      }
    }
  }
}

// A GPU that failed is why its rank is gone or silent.
void GpuFaultExplainsEnd(Board& board) {
  for (size_t fault : board.FindCauses("host_gpus.xid")) {
    if (!NamesOneRank(board.At(fault))) continue;
    for (size_t effect : board.FindCauses()) {
      if (effect == fault || board.At(effect).ranks != board.At(fault).ranks ||
          !IsAboutItsEnd(board.At(effect)))
        continue;
      board.At(fault).severity = Severity::kError;
      const std::vector<size_t> also = board.At(effect).explains;
      FoldAsProof(board, fault, effect, "other inputs blame the same rank");
      for (size_t each : also) board.Fold(fault, each);
    }
  }
}

// Pictures of the end: whose GPU fell idle first, who completed its last collective first. They
// support an error that names the same rank, and name the rank where an error names none.
void HostPicturesOfEnd(Board& board) {
  for (std::string_view rule : {"host_gpus.idle_first", "host_bandwidth.first_to_stop"}) {
    for (size_t picture : board.Find(rule)) {
      if (!NamesOneRank(board.At(picture)) || board.At(picture).role != Role::kObservation)
        continue;
      bool named = false, hung = false;
      for (size_t cause : board.RankedCauses()) {
        const Finding& finding = board.At(cause);
        if (finding.severity != Severity::kError) continue;
        named |= !finding.ranks.empty();
        // A job that was ended from outside did not wait for anybody.
        hung |= finding.ranks.empty() && finding.rule == "text_hang.timeouts";
        if (finding.ranks == board.At(picture).ranks)
          FoldAsProof(board, cause, picture, "monitors show this rank apart from the others");
      }
      if (named || !hung) continue;
      board.At(picture).severity = Severity::kError;
      board.At(picture).role = Role::kCause;
    }
  }
}

}  // namespace debrief::analyses::verdict
