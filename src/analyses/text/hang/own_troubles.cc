// A program may wait in the store for a key of its own:
//
//   torch.distributed.DistStoreError: wait timeout after 8000ms, keys: /default_pg/0//address/4/6
//
// That is no set-up of a communicator. When one rank alone waited so, what it waited for is its own
// trouble, and the others only lost it. A key that ends with the number of another rank may be one
// that this rank did not set: then nobody is named for it. And somebody may interrupt one process:
// its KeyboardInterrupt is the reason when the launcher names it the first failure, or all others
// lost a connection, and no other rank was interrupted.
#include <algorithm>
#include <functional>
#include <iterator>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

namespace {

// "address/4/6"; empty when it is one of PyTorch's keys, or the text is about something else.
std::string_view KeyOfProgram(std::string_view text) {
  constexpr std::string_view kWait = "wait timeout after", kKeys = "keys: ";
  constexpr std::string_view kOfTorch[] = {
      "//cuda", "//cpu",        "store_based_barrier", "worker_count",
      "rank_",  "ncclUniqueId", "torchelastic",        "torch.rendezvous",
      ","};
  const size_t keys = text.find(kKeys);
  if (!Contains(text, kWait) || keys == std::string_view::npos) return {};
  std::string_view key = FirstLine(text.substr(keys + kKeys.size()));
  const bool of_torch =
      std::ranges::any_of(kOfTorch, [&](std::string_view word) { return Contains(key, word); });
  const size_t slashes = key.rfind("//");
  if (of_torch || slashes == std::string_view::npos) return {};
  key.remove_prefix(slashes + 2);
  const bool named = std::ranges::any_of(key, [](char c) { return !IsDigit(c) && c != '/'; });
  return named ? key : std::string_view();
}

bool NamesAnother(std::string_view key, int32_t rank, size_t ranks) {
  const int64_t number = NumberAfter(key.substr(key.rfind('/') + 1), "");  // npos + 1 is 0
  return number >= 0 && number != rank && number < static_cast<int64_t>(ranks);
}

// Makes `rows` of aftermaths the rank's own troubles.
void Claim(RankTalk& talk, const std::function<bool(size_t)>& is_own) {
  std::ranges::copy_if(talk.aftermaths, std::back_inserter(talk.troubles), is_own);
  std::erase_if(talk.aftermaths, is_own);
  std::ranges::sort(talk.troubles);
}

void ClaimWait(const Model& model, Talk& talk) {
  constexpr size_t kFewest = 3;  // of two ranks either may be the one that did not come
  if (talk.ranks.size() < kFewest) return;
  const auto& events = model.tables.Get<TextEventTable>();
  auto waits = [&](size_t row) {
    return !KeyOfProgram(model.pools.Text(events.text[row])).empty();
  };
  RankTalk* one = nullptr;
  for (auto& [rank, each] : talk.ranks) {
    const auto row = std::ranges::find_if(each.aftermaths, waits);
    if (row == each.aftermaths.end()) continue;
    const std::string_view key = KeyOfProgram(model.pools.Text(events.text[*row]));
    if (one != nullptr || NamesAnother(key, rank, talk.ranks.size())) return;
    one = &each;
  }
  if (one != nullptr) Claim(*one, waits);
}

bool AllOthersLostAPeer(const Model& model, const Talk& talk, const RankTalk& one) {
  const auto& events = model.tables.Get<TextEventTable>();
  return std::ranges::all_of(talk.ranks, [&](const auto& each) {
    return &each.second == &one || std::ranges::any_of(each.second.aftermaths, [&](size_t row) {
      return BlamesARemote(model.pools.Text(events.text[row]));
    });
  });
}

void ClaimInterrupt(const Model& model, Talk& talk) {
  if (!talk.scheduler.empty()) return;  // the whole job was told to end
  const auto& events = model.tables.Get<TextEventTable>();
  auto interrupted = [&](size_t row) {
    return model.pools.Text(events.text[row]).starts_with("KeyboardInterrupt");
  };
  RankTalk* one = nullptr;
  for (auto& [rank, each] : talk.ranks) {
    if (std::ranges::none_of(each.aftermaths, interrupted)) continue;
    if (one != nullptr) return;
    one = &each;
  }
  if (one == nullptr || talk.ranks.size() < 2) return;
  const End& end = one->end;
  const bool told = end.known() && end.said_by != "rank";
  const bool first = end.exit_code != 0 && end.first && !end.stopped;
  if (told ? first : AllOthersLostAPeer(model, talk, *one)) Claim(*one, interrupted);
}

}  // namespace

void ClaimPrinted(Talk& talk) {
  const bool bad = talk.EndedBadly() || !talk.nobody.troubles.empty() || !talk.nameless.empty() ||
                   !talk.scheduler.empty() || !talk.nobody.aftermaths.empty() ||
                   std::ranges::any_of(talk.ranks, [](const auto& each) {
                     return !each.second.troubles.empty() || !each.second.suspicions.empty();
                   });
  if (!bad) return;
  auto claim = [](RankTalk& each) {
    std::ranges::copy(each.printed, std::back_inserter(each.troubles));
    std::ranges::sort(each.troubles);
  };
  claim(talk.nobody);
  for (auto& [rank, each] : talk.ranks) claim(each);
}

void ClaimOwnTroubles(const Model& model, Talk& talk) {
  ClaimWait(model, talk);
  ClaimInterrupt(model, talk);
}

}  // namespace debrief::analyses::text_hang
