// The set-up of the store or of a communicator failed: who never came?
//
//   [2] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value
//   store by key '0', but store->get('0') got error: wait timeout after 14000ms, keys:
//   /default_pg/0//1//cuda//0
//
// The first member of a group makes the id of its communicator, the others ask the store for it.
// The numbers count inside the group, whose name stands in the key. Who says this waited.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "tables/comm_group.h"
#include "tables/process_identity.h"
#include "torch/remedies.h"

namespace debrief::analyses::text_hang {

namespace {

// Lines about a set-up that failed, and the ranks that print them.
struct Setup {
  size_t row = RankTalk::kNoRow;
  std::vector<int32_t> waiting;
  std::string_view group;             // as the job numbers it
  std::map<int32_t, int64_t> places;  // rank -> rank inside that group
};

// "/default_pg/0//1//cuda//0" is of group 1, "/default_pg/0//cuda//0" of the default one, which is
// called 0.
std::string_view GroupInKey(std::string_view text) {
  size_t keys = text.find("keys: ");
  if (keys == std::string_view::npos) return {};
  std::string_view key = text.substr(keys + 6);
  size_t device = key.find("//cuda");
  if (device == std::string_view::npos) return {};
  key = key.substr(0, device);
  size_t slashes = key.rfind("//");
  return slashes == std::string_view::npos ? "0" : key.substr(slashes + 2);
}

// The speaker's rank inside the group; null when the line is about something else.
int64_t PlaceInGroup(std::string_view text) {
  size_t at = text.find("] is setting up NCCL communicator");
  size_t open = at == std::string_view::npos ? at : text.rfind('[', at);
  return open == std::string_view::npos ? kNone64 : NumberAfter(text.substr(open), "[");
}

bool IsAboutSetup(std::string_view text) {
  return Contains(text, "retrieving ncclUniqueId from") || Contains(text, "wait timeout after") ||
         Contains(text, "clients joined") || Contains(text, "client socket has timed out") ||
         Contains(text, "in store based barrier on rank");
}

// Of how many ranks how many came, as the store counts them:
//
//   Timed out after 601 seconds waiting for clients. 7/8 clients joined.
//   Timed out ... in store based barrier on rank: 1, ... (world_size=8, num_workers_joined=7, ...
struct Joined {
  int64_t came = kNone64;
  int64_t of = kNone64;
};

Joined JoinedOf(std::string_view text) {
  if (Contains(text, "num_workers_joined="))
    return {NumberAfter(text, "num_workers_joined="), NumberAfter(text, "world_size=")};
  const size_t end = text.find(" clients joined");
  if (end == std::string_view::npos) return {};
  const size_t blank = text.rfind(' ', end - 1);
  if (blank == std::string_view::npos) return {};
  const std::string_view counts = text.substr(blank, end - blank);
  return {NumberAfter(counts, " "), NumberAfter(counts, "/")};
}

// Of several groups, the one that most ranks speak of.
Setup CollectSetup(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Setup setup;
  std::map<std::string_view, std::map<int32_t, int64_t>> groups;
  for (size_t row : scene.talk.setup) {
    std::string_view text = scene.model.pools.Text(events.text[row]);
    if (!IsAboutSetup(text)) continue;
    if (setup.row == RankTalk::kNoRow) setup.row = row;
    int32_t rank = events.rank[row];
    if (rank == kNone32) continue;
    setup.waiting.push_back(rank);
    if (int64_t place = PlaceInGroup(text); place != kNone64)
      groups[GroupInKey(text)].try_emplace(rank, place);
  }
  std::sort(setup.waiting.begin(), setup.waiting.end());
  setup.waiting.erase(std::unique(setup.waiting.begin(), setup.waiting.end()), setup.waiting.end());
  for (const auto& [group, places] : groups) {
    if (places.size() <= setup.places.size()) continue;
    setup.group = group;
    setup.places = places;
  }
  return setup;
}

// The lowest member of the group, by what dumps say of it; null when there are none, or when they
// contradict each other.
int32_t FirstInDumps(const Scene& scene, std::string_view group) {
  const auto& groups = scene.model.tables.Get<CommGroupTable>();
  int32_t first = kNone32;
  for (size_t i = 0; i < groups.size(); ++i) {
    bool ours = groups.job[i] == scene.talk.job && groups.attempt[i] == scene.talk.attempt &&
                scene.model.pools.Text(groups.name[i]) == group;
    auto members = scene.model.pools.lists.Get(groups.members[i]);
    if (!ours || group.empty() || members.empty()) continue;
    auto lowest = static_cast<int32_t>(members.front());
    if (first != kNone32 && first != lowest) return kNone32;
    first = lowest;
  }
  return first;
}

// Members are sorted, so a rank whose place is its own number has all lower ones before it. Groups
// of a mesh are evenly spaced: speakers tell the distance.
int32_t FirstByPlaces(const std::map<int32_t, int64_t>& places) {
  if (places.size() < 2) return kNone32;
  for (auto [rank, place] : places) {
    if (place == rank) return 0;
  }
  constexpr size_t kEnough = 3;  // two are always evenly spaced
  if (places.size() < kEnough) return kNone32;
  auto [low, low_place] = *places.begin();
  auto [high, high_place] = *places.rbegin();
  int64_t apart = high_place - low_place;
  if (apart <= 0 || (high - low) % apart != 0) return kNone32;
  int64_t distance = (high - low) / apart;
  int64_t first = low - low_place * distance;
  bool even = std::all_of(places.begin(), places.end(), [&, at = low_place](const auto& each) {
    return each.first == low + (each.second - at) * distance;
  });
  return even && first >= 0 ? static_cast<int32_t>(first) : kNone32;
}

// Gloo's members wait for each other's address: "keys: /default_pg/0//cpu//0/2" is that of rank 2.
int32_t AwaitedByGloo(std::string_view text) {
  constexpr std::string_view kOfAll = "keys: /default_pg/0//cpu//";
  const size_t key = text.find(kOfAll);
  if (key == std::string_view::npos) return kNone32;
  std::string_view rest = FirstLine(text.substr(key + kOfAll.size()));
  const size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos || Contains(rest, ",")) return kNone32;
  const int64_t rank = NumberAfter(rest.substr(slash), "/");
  return rank >= 0 && rank < (int64_t{1} << 20) ? static_cast<int32_t>(rank) : kNone32;
}

// Whose address all that speak wait for; null when they contradict each other, or it speaks itself.
int32_t AwaitedByAll(const Scene& scene, const Setup& setup) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  int32_t awaited = kNone32;
  for (size_t row : scene.talk.setup) {
    const int32_t rank = AwaitedByGloo(scene.model.pools.Text(events.text[row]));
    if (rank == kNone32) continue;
    if (awaited != kNone32 && awaited != rank) return kNone32;
    awaited = rank;
  }
  return std::ranges::binary_search(setup.waiting, awaited) ? kNone32 : awaited;
}

// Those who came all say so: then the others are those who did not.
std::vector<int32_t> NeverCame(const Scene& scene, const Setup& setup) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const Joined joined = JoinedOf(scene.model.pools.Text(events.text[setup.row]));
  const auto waiting = static_cast<int64_t>(setup.waiting.size());
  const bool told = joined.came == waiting && joined.of > joined.came &&
                    joined.of - joined.came < joined.came && setup.waiting.back() < joined.of;
  std::vector<int32_t> absent;
  for (int32_t rank = 0; told && rank < joined.of; ++rank) {
    if (!std::ranges::binary_search(setup.waiting, rank)) absent.push_back(rank);
  }
  return absent;
}

// Is it the first communicator of the job, that of all ranks? No step was printed, and NCCL reports
// none that was set up. Then all ranks have to come there, and the others are only late.
bool IsFirstOfJob(const Scene& scene, const Setup& setup) {
  if (setup.group != "0") return false;
  const auto& identities = scene.model.tables.Get<ProcessIdentityTable>();
  for (size_t row = 0; row < identities.size(); ++row) {
    bool ours =
        identities.job[row] == scene.talk.job && identities.attempt[row] == scene.talk.attempt;
    if (ours && identities.comm[row] != StringId::kNone && identities.set_up[row] != 0)
      return false;
  }
  return scene.talk.nobody.last_step == RankTalk::kNoRow &&
         std::all_of(scene.talk.ranks.begin(), scene.talk.ranks.end(),
                     [](const auto& each) { return each.second.last_step == RankTalk::kNoRow; });
}

// Who never came; null when nothing tells.
int32_t FirstMember(const Scene& scene, const Setup& setup) {
  int32_t first = FirstInDumps(scene, setup.group);
  if (first == kNone32) first = FirstByPlaces(setup.places);
  if (first == kNone32 && IsFirstOfJob(scene, setup)) first = 0;  // it is a group of all ranks
  bool waits = std::binary_search(setup.waiting.begin(), setup.waiting.end(), first);
  return waits ? kNone32 : first;
}

// The third member of a group or a later one, or one of a group of all ranks, and none of the
// others says that it waits there, though what they print is known: then the speaker alone is in
// that set-up, and it is the one that does something else.
bool CameAlone(const Scene& scene, const Setup& setup) {
  if (setup.waiting.size() != 1 || setup.places.size() != 1 || IsFirstOfJob(scene, setup))
    return false;
  bool others_known =
      std::all_of(scene.talk.ranks.begin(), scene.talk.ranks.end(), [&](const auto& each) {
        return each.first == setup.waiting.front() || scene.talk.OutputIsKnown(each.first);
      });
  bool others_would_wait = setup.places.begin()->second >= 2 || setup.group == "0";
  return others_would_wait && others_known && scene.talk.ranks.size() > 2;
}

// " at 10.8.0.3:29500" of "... while trying to connect to (10.8.0.3, 29500).".
std::string AddressOfStore(std::string_view text) {
  constexpr std::string_view kOpen = " to (", kOpenOfAny = "network address of (";
  size_t at = text.find(kOpen);
  size_t open =
      at == std::string_view::npos ? text.find(kOpenOfAny) + kOpenOfAny.size() : at + kOpen.size();
  if (at == std::string_view::npos && !Contains(text, kOpenOfAny)) return {};
  const std::string_view rest = text.substr(open);
  const size_t comma = rest.find(", "), close = rest.find(')');
  if (close == std::string_view::npos || comma > close) return {};
  return fmt::format(" at {}:{}", rest.substr(0, comma), rest.substr(comma + 2, close - comma - 2));
}

std::string SetupInWords(std::string_view text, const std::vector<int32_t>& waiting) {
  std::string who = waiting.empty() ? "A process" : RanksAsSubject(waiting);
  if (Contains(text, "retrieving ncclUniqueId from"))
    return who + " waited for the first member of a group to set up its communicator";
  if (Contains(text, "clients joined") || Contains(text, "store based barrier"))
    return "Not all ranks joined the store at the start of the job";
  if (Contains(text, "client socket"))
    return fmt::format("{} could not reach the store (the host of rank 0){}", who,
                       AddressOfStore(text));
  return who + " waited in vain for another rank in the store";
}

// The agent of torchrun has the store; without one it is in the process of rank 0.
bool HasAgent(const Talk& talk) {
  return std::ranges::any_of(
      talk.ranks, [](const auto& each) { return each.second.end.said_by == "torchrun"; });
}

// Rank 0 gives its address when all ranks have come to its store: it may itself wait for another.
void TellOfStoreHost(const Setup& setup, Finding& finding) {
  finding.headline =
      fmt::format("Not all ranks joined the start of the job; {} waited for the address of rank 0",
                  setup.waiting.empty() ? "a process" : RanksInWords(setup.waiting));
  finding.confidence = 0.5;
  finding.why =
      "rank 0 has the store and gives its address when all ranks have come: it or another one is "
      "missing";
  finding.next_step =
      "Look at the output of rank 0 and at ranks that printed nothing: one of them did not start, "
      "or WORLD_SIZE is larger than the number of processes.";
}

void BlameAwaited(const Scene& scene, const Setup& setup, int32_t rank, Finding& finding) {
  finding.ranks = {rank};
  finding.headline = fmt::format(
      "Rank {} did not join the set-up of the group of all ranks; {} waited for its address", rank,
      setup.waiting.empty() ? "others" : RanksInWords(setup.waiting));
  finding.confidence = 0.8;
  finding.why = "the store key that they waited for belongs to that rank";
  finding.next_step =
      fmt::format("Find out where rank {} is (stack, output): it did not reach that set-up.", rank);
  AddContext(scene, rank, finding);
}

void BlameAbsent(const Scene& scene, const Setup& setup, const std::vector<int32_t>& absent,
                 Finding& finding) {
  finding.ranks = absent;
  finding.headline = fmt::format("{} did not come to the start of the job; {} waited in the store",
                                 RanksAsSubject(absent), RanksInWords(setup.waiting));
  finding.confidence = 0.75;
  finding.why = "the ranks that joined report how many they are, and each reports that it waited";
  finding.next_step =
      "Find out where these ranks are: their output, their host, whether they started; or whether "
      "WORLD_SIZE is larger than the number of processes.";
  const auto talk = scene.talk.ranks.find(absent.front());
  if (talk == scene.talk.ranks.end()) return;  // nothing is known of it but that it is missing
  // What kept it away may be an error of the store, too: it could not reach it.
  for (size_t row : talk->second.aftermaths)
    finding.evidence.insert(finding.evidence.begin(), LineAsEvidence(scene, row));
  AddContext(scene, absent.front(), finding);
}

void BlameFirst(const Scene& scene, const Setup& setup, int32_t first, Finding& finding) {
  std::vector<int32_t> waiting;
  for (auto [rank, place] : setup.places) waiting.push_back(rank);
  finding.ranks = {first};
  // At the start of a job it comes, too, but after the others have given up.
  finding.headline =
      fmt::format("Rank {} {} the set-up of the communicator of group {}; {} waited for it", first,
                  IsFirstOfJob(scene, setup) ? "came too late to" : "did not join", setup.group,
                  RanksInWords(waiting));
  finding.groups.push_back({std::string(setup.group), "", waiting});
  finding.confidence = 0.7;
  finding.why =
      "the others wait in that set-up for the first member of the group, which is this rank";
  finding.next_step = fmt::format(
      "Compare what rank {} called before this with the other ranks, and find out where it is.",
      first);
  AddContext(scene, first, finding);
}

}  // namespace

bool SomebodyFailedInSetup(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  return std::ranges::any_of(scene.talk.setup, [&](size_t row) {
    return events.rank[row] == kNone32 &&
           Contains(scene.model.pools.Text(events.text[row]), "wait timeout after");
  });
}

bool GaveUpTheFirstSetup(const Scene& scene, int32_t rank) {
  Setup setup = CollectSetup(scene);
  return setup.places.contains(rank) && IsFirstOfJob(scene, setup);
}

bool FindSetup(const Scene& scene, std::vector<Finding>& findings) {
  constexpr size_t kMostSpeakers = 4;
  Setup setup = CollectSetup(scene);
  if (setup.row == RankTalk::kNoRow) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Finding finding = NewFinding(scene, "text_hang.setup");
  finding.headline = SetupInWords(scene.model.pools.Text(events.text[setup.row]), setup.waiting);
  for (size_t row : scene.talk.setup) {
    bool says = IsAboutSetup(scene.model.pools.Text(events.text[row]));
    if (says && finding.evidence.size() < kMostSpeakers)
      finding.evidence.push_back(LineAsEvidence(scene, row));
  }
  finding.confidence = 0.6;
  const int32_t awaited = AwaitedByAll(scene, setup);
  if (awaited == 0 && !HasAgent(scene.talk)) {
    TellOfStoreHost(setup, finding);
  } else if (awaited != kNone32) {
    BlameAwaited(scene, setup, awaited, finding);
  } else if (const auto absent = NeverCame(scene, setup); !absent.empty()) {
    BlameAbsent(scene, setup, absent, finding);
  } else if (CameAlone(scene, setup)) {
    finding.ranks = setup.waiting;
    finding.headline += "; no other member came";
    finding.why = "it alone is in that group's set-up: it called something else than its peers";
    finding.next_step = "Compare the order of its calls before this line with that of its peers.";
    AddContext(scene, setup.waiting.front(), finding);
  } else if (int32_t first = FirstMember(scene, setup); first != kNone32) {
    BlameFirst(scene, setup, first, finding);
  } else {
    finding.why = "the store reports it; the text does not say which rank is missing";
    const std::string_view text = scene.model.pools.Text(events.text[setup.row]);
    finding.next_step =
        Contains(text, "client socket")
            ? std::string(RemedyOf(text))
            : "Look at the ranks that did not print this: one of them did not join.";
  }
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace debrief::analyses::text_hang
