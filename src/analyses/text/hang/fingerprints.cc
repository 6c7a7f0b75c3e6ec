// TORCH_DISTRIBUTED_DEBUG=DETAIL compares what ranks are about to run:
//
//   Detected mismatch between collectives on ranks. Rank 0 is running collective:
//   CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, TensorShape=[10], ...), but Rank 2
//   is running collective: CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, ...
//
// All ranks raise it, and each names two: together they tell what every rank ran, and who differs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr std::string_view kRuns = " is running collective: ";

// "ALLREDUCE 12 of [10]", of what stands behind kRuns.
std::string CallInWords(std::string_view text) {
  auto value = [&](std::string_view key, std::string_view stops) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return std::string_view();
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, std::min(rest.find_first_of(stops), rest.size()));
  };
  std::string words = OpInWords(value("OpType=", ",)"));
  // "SequenceNumber=0OpType=GATHER": a call of another size comes in pieces.
  std::string_view seq = value("SequenceNumber=", ",)");
  seq = seq.substr(0, seq.find_first_not_of("0123456789"));
  if (!seq.empty()) words += fmt::format(" {}", seq);
  if (const auto shape = value("TensorShape=", "]"); !shape.empty())
    words += shape == "[" ? std::string(" of a scalar") : fmt::format(" of shape {}]", shape);
  if (const auto type = value("TensorDtypes=", ",)"); !type.empty())
    words += fmt::format(", {}", type);
  return words;
}

struct Calls {
  std::map<int32_t, std::string> own;    // what a rank says of itself
  std::map<int32_t, std::string> heard;  // what another says of it, which may be damaged

  std::map<int32_t, std::string> Best() const {
    std::map<int32_t, std::string> best = own;
    best.insert(heard.begin(), heard.end());  // keeps what is there
    return best;
  }
};

// What each rank runs, by what the text says of it: of the speaker first.
void ReadStatement(std::string_view text, Calls& calls) {
  bool is_own = true;
  for (size_t at = text.find(kRuns); at != std::string_view::npos;) {
    const size_t next = text.find(kRuns, at + 1);
    const size_t word = text.rfind("Rank ", at);
    const int64_t rank =
        word == std::string_view::npos ? kNone64 : NumberAfter(text.substr(word), "Rank ");
    const std::string_view body = text.substr(at + kRuns.size(), next - at - kRuns.size());
    constexpr int64_t kMostRanks = 1 << 17;
    if (rank >= 0 && rank < kMostRanks)
      (is_own ? calls.own : calls.heard).try_emplace(static_cast<int32_t>(rank), CallInWords(body));
    is_own = false;
    at = next;
  }
}

}  // namespace

void FindFingerprints(const Scene& scene, std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Calls statements;
  Rows rows;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.troubles) {
      const std::string_view text = scene.model.pools.Text(events.text[row]);
      if (!Contains(text, "Detected mismatch between collectives on ranks")) continue;
      ReadStatement(text, statements);
      rows.push_back(row);
    }
  }
  const std::map<int32_t, std::string> calls = statements.Best();
  std::map<std::string, std::vector<int32_t>> by_call;
  for (const auto& [rank, call] : calls) by_call[call].push_back(rank);
  if (by_call.size() < 2) return;
  auto is_fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto odd = std::ranges::min_element(by_call, is_fewer);
  const auto most = std::ranges::max_element(by_call, is_fewer);
  Finding finding = NewFinding(scene, "text_hang.differs");
  const bool told = odd->second.size() < most->second.size();
  finding.ranks = odd->second;
  if (!told) {  // either side may be wrong
    finding.ranks.clear();
    for (const auto& [rank, call] : calls) finding.ranks.push_back(rank);
  }
  const auto& other = told ? *most : *std::next(odd);
  finding.headline = fmt::format("{} called {}; {} called {}", RanksAsSubject(odd->second),
                                 odd->first, RanksInWords(other.second), other.first);
  for (size_t row : rows) {
    constexpr size_t kMostLines = 3;
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(LineAsEvidence(scene, row));
  }
  finding.confidence = told ? 0.9 : 0.7;
  finding.why = "PyTorch compared the calls of all ranks (TORCH_DISTRIBUTED_DEBUG=DETAIL)";
  finding.next_step =
      "Find where the program takes another branch on one rank, or gives the call "
      "another tensor.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
