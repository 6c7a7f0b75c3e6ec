// Gloo has one message for a call that does not match that of a peer, and ends the process that
// received it:
//
//   terminate called after throwing an instance of 'gloo::EnforceNotMet'
//     what():  [enforce fail at .../pair.cc:456] op.preamble.length <= op.nbytes. 1024 vs 512. ...
//
// The receiver is as likely to be right as the sender: nobody is named for it, unless one rank
// alone stood at another line than all others when its connection broke (call_sites.cc).
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

namespace {

struct Mismatch {
  size_t row = RankTalk::kNoRow;
  int32_t receiver = kNone32;
  int64_t received = kNone64;  // bytes
  int64_t expected = kNone64;
};

bool ReadMismatch(const Scene& scene, size_t row, Mismatch& mismatch) {
  constexpr std::string_view kKey = "op.preamble.length <= op.nbytes. ";
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string_view text = scene.model.pools.Text(events.text[row]);
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at);
  mismatch = {row, events.rank[row], NumberAfter(text, kKey), NumberAfter(text, " vs ")};
  return mismatch.received != kNone64 && mismatch.expected != kNone64;
}

// In a text of all ranks the C library does not say who prints: it is the one that was aborted.
int32_t OnlyAborted(const Talk& talk) {
  constexpr int32_t kAborted = -6;
  int32_t found = kNone32;
  for (const auto& [rank, each] : talk.ranks) {
    if (each.end.exit_code != kAborted) continue;
    if (found != kNone32) return kNone32;
    found = rank;
  }
  return found;
}

bool FindMismatch(const Scene& scene, Mismatch& mismatch) {
  auto find = [&](const RankTalk& talk) {
    return std::ranges::any_of(talk.troubles,
                               [&](size_t row) { return ReadMismatch(scene, row, mismatch); });
  };
  const bool found =
      find(scene.talk.nobody) ||
      std::ranges::any_of(scene.talk.ranks, [&](const auto& each) { return find(each.second); });
  if (found && mismatch.receiver == kNone32) mismatch.receiver = OnlyAborted(scene.talk);
  return found;
}

}  // namespace

void FindSizeMismatch(const Scene& scene, std::vector<Finding>& findings) {
  Mismatch mismatch;
  if (!FindMismatch(scene, mismatch)) return;
  Finding finding = NewFinding(scene, "text_hang.differs");
  const std::string who = mismatch.receiver == kNone32 ? std::string("A rank")
                                                       : fmt::format("Rank {}", mismatch.receiver);
  finding.headline =
      fmt::format("{} received {} bytes where it expected {}: its call does not match a peer's",
                  who, mismatch.received, mismatch.expected);
  finding.evidence.push_back({.text = finding.headline, .table = {}, .rows = {}});
  finding.evidence.push_back(LineAsEvidence(scene, mismatch.row));
  finding.confidence = 0.6;
  finding.why =
      "gloo compares the size of a message with the one that was asked for; it does not say which "
      "side is wrong";
  finding.next_step =
      "Compare shape, dtype and order of the calls of all ranks there; "
      "TORCH_DISTRIBUTED_DEBUG=DETAIL makes PyTorch name the ranks that differ.";
  BlameOddSite(scene, finding);
  if (finding.ranks.empty()) finding.evidence.erase(finding.evidence.begin());  // is the headline
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
