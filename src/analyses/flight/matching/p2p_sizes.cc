// A send and its receive must have the same size. NCCL copies what fits and says nothing, so the
// job may even end well; the numbers are wrong all the same.
#include "analyses/flight/matching/p2p_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyses/flight/cause.h"
#include "analyses/flight/words.h"

namespace debrief::analyses::flight {

namespace {

StringId SizeOf(const Index& index, const Unit& unit) {
  size_t row = unit.row;
  return unit.send ? index.ops.input_sizes[row] : index.ops.output_sizes[row];
}

// How often each size is sent or received in groups of a description.
using Usual = std::map<std::pair<StringId, StringId>, int64_t>;

Usual CountSizes(const Index& index) {
  Usual usual;
  for (const Unit& unit : index.units) {
    if (!unit.p2p) continue;
    ++usual[{index.GroupOf(unit).description, SizeOf(index, unit)}];
  }
  return usual;
}

void AddCause(const Index& index, const Usual& usual, int32_t send, std::vector<Cause>& causes) {
  const Unit& sender = index.UnitAt(send);
  const Unit& receiver = index.UnitAt(sender.peer);
  const Group& group = index.GroupOf(sender);
  auto count = [&](const Unit& unit) {
    auto found = usual.find({group.description, SizeOf(index, unit)});
    return found == usual.end() ? int64_t{0} : found->second;
  };
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.p2p_size";
  if (count(sender) <= count(receiver)) cause.ranks.push_back(sender.rank);
  if (count(receiver) <= count(sender)) cause.ranks.push_back(receiver.rank);
  std::sort(cause.ranks.begin(), cause.ranks.end());
  cause.groups = {sender.group};
  cause.seq = sender.seq;
  cause.op = cause.ranks.front() == receiver.rank && cause.ranks.size() == 1 ? "recv" : "send";
  cause.units = {send, sender.peer};
  std::string site = AtSite(index, cause.op == "send" ? sender : receiver);
  bool sender_is_wrong = cause.ranks.front() == sender.rank && cause.ranks.size() == 1;
  const Unit& wrong = sender_is_wrong ? sender : receiver;
  const Unit& other = sender_is_wrong ? receiver : sender;
  cause.what = fmt::format("{} {} in {} where rank {} {} {}{}", wrong.send ? "sends" : "receives",
                           index.Text(SizeOf(index, wrong)), GroupInWords(index, group),
                           index.GlobalRank(other.rank), other.send ? "sends" : "receives",
                           index.Text(SizeOf(index, other)), site);
  if (cause.ranks.size() == 2) {
    cause.what = fmt::format("disagree on a size in {}: {} is sent, {} received{}",
                             GroupInWords(index, group), index.Text(SizeOf(index, sender)),
                             index.Text(SizeOf(index, receiver)), site);
  }
  cause.confidence = cause.ranks.size() == 1 ? 0.85 : 0.6;
  cause.why = cause.ranks.size() == 1
                  ? "other such pairs send and receive its partner's size"
                  : "both sizes are equally common; nothing shows which side is wrong";
  cause.next_step = "Compare the shapes that both sides compute for this exchange.";
  if (sender.completed() && receiver.completed()) {
    cause.why +=
        "; NCCL does not compare sizes: both sides completed, and the job goes on with wrong data";
    cause.next_step =
        "If the job still runs, stop it: it computes with wrong data. Compare the shapes that both "
        "sides compute for this exchange.";
  }
}

// One exchange of an odd size whose other half nobody knows (no dump, or half of one): all others
// of the channel have the same, other size. The first exchanges of a channel are often of another
// size (pipelines send shapes before tensors).
std::optional<int32_t> FindOdd(const Index& index, const std::vector<int32_t>& list) {
  constexpr size_t kEnough = 4, kFirst = 3;
  if (list.size() < kEnough) return std::nullopt;
  const StringId usual = SizeOf(index, index.UnitAt(list.front()));
  auto differs = [&](int32_t at) { return SizeOf(index, index.UnitAt(at)) != usual; };
  const auto found = std::find_if(list.begin(), list.end(), differs);
  if (found == list.end() || std::any_of(found + 1, list.end(), differs)) return std::nullopt;
  if (static_cast<size_t>(found - list.begin()) < kFirst) return std::nullopt;
  const Unit& odd = index.UnitAt(*found);
  if (odd.peer >= 0 || odd.fell_out || odd.partner < 0) return std::nullopt;
  const RankInfo& partner = index.RankAt(odd.partner);
  if (partner.has_dump && partner.whole) return std::nullopt;
  return *found;
}

void AddOdd(const Index& index, int32_t at, std::vector<Cause>& causes) {
  const Unit& unit = index.UnitAt(at);
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.p2p_size";
  cause.ranks = {unit.rank};
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = unit.send ? "send" : "recv";
  cause.units = {at};
  cause.what = fmt::format("{} {} in {}, always another size before{}",
                           unit.send ? "sends" : "receives", index.Text(SizeOf(index, unit)),
                           GroupInWords(index, index.GroupOf(unit)), AtSite(index, unit));
  cause.confidence = 0.6;
  cause.why =
      "its partner's dump does not have it; all other exchanges of this channel have one other "
      "size";
  cause.next_step = "Compare the shapes that both sides compute for this exchange.";
}

}  // namespace

bool IsSameAmount(const Index& index, const Unit& a, const Unit& b) {
  if (SizeOf(index, a) == SizeOf(index, b)) return true;
  auto bytes = [&](const Unit& unit) {
    StringId types =
        unit.send ? index.ops.input_dtypes[unit.row] : index.ops.output_dtypes[unit.row];
    return TensorBytes(index.Text(SizeOf(index, unit)), index.Text(types));
  };
  if (int64_t left = bytes(a), right = bytes(b); left >= 0 && right >= 0) return left == right;
  return CountElements(index.Text(SizeOf(index, a))) == CountElements(index.Text(SizeOf(index, b)));
}

void FindP2pSizes(const Index& index, std::vector<Cause>& causes) {
  Usual usual;
  for (const Channel& channel : index.channels) {
    for (int32_t send : channel.sends) {
      const Unit& unit = index.UnitAt(send);
      if (unit.peer < 0) continue;
      if (IsSameAmount(index, unit, index.UnitAt(unit.peer))) continue;
      if (usual.empty()) usual = CountSizes(index);
      AddCause(index, usual, send, causes);
      break;
    }
    for (const auto* list : {&channel.sends, &channel.receives}) {
      if (auto odd = FindOdd(index, *list)) AddOdd(index, *odd, causes);
    }
  }
}

}  // namespace debrief::analyses::flight
