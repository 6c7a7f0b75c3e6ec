#include "analyses/flight/arrivals/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyses/flight/blocks.h"
#include "analyses/flight/cause.h"
#include "analyses/flight/words.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"

namespace debrief::analyses::flight {

namespace {

struct Arrival {
  Delay last;
  int64_t spread_ns = kNone64;
};

int64_t AddBounded(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t AddTimes(int64_t sum, int64_t bytes, int64_t times) {
  int64_t product = 0;
  if (bytes <= 0) return sum;
  if (__builtin_mul_overflow(bytes, times, &product)) return std::numeric_limits<int64_t>::max();
  return AddBounded(sum, product);
}

// What one group does with one op, while it is counted.
struct Counting {
  Traffic traffic;
  bool inputs_known = true;
  bool outputs_known = true;
  int64_t inputs = 0;  // bytes of all members
  int64_t outputs = 0;
  std::vector<int64_t> times;
  std::vector<int64_t> spreads;
};

void AddDelay(Delay delay, RankArrival& rank) {
  for (Delay& kept : rank.longest) {
    if (delay.late_ns > kept.late_ns) std::swap(kept, delay);
  }
}

// What all blocks of groups read.
struct Given {
  std::vector<int64_t> corrections;  // by rank
  std::map<int32_t, std::vector<const Channel*>> channels;
};

// Arrivals at some groups.
class Pass {
 public:
  Pass(const Index& index, const Given& given) : index_(index), given_(given) {
    arrivals_.ranks.resize(index.ranks.size());
  }

  Arrivals Run(GroupBlock block) {
    for (size_t i = block.begin; i < block.end; ++i) AddGroup(static_cast<int32_t>(i));
    return std::move(arrivals_);
  }

 private:
  void AddGroup(int32_t i) {
    const Group& group = index_.GroupAt(i);
    counting_.clear();
    counting_of_op_.clear();
    last_counting_ = 0;
    for (const SeqRow& row : group.rows) AddCollective(i, group, row);
    const auto channels = given_.channels.find(i);
    if (channels != given_.channels.end()) {
      for (const Channel* channel : channels->second) {
        for (int32_t at : channel->sends) AddTransfer(i, at);
        for (int32_t at : channel->receives) AddTransfer(i, at);
      }
    }
    for (Counting& counting : counting_) Finish(group, counting);
  }

  Arrival ArrivalOf(std::span<const int32_t> units) const {
    int64_t first = kNone64, before = kNone64, last = kNone64;
    Arrival arrival;
    for (int32_t at : units) {
      const Unit& unit = index_.UnitAt(at);
      int64_t time = index_.ops.created_ns[unit.row];
      if (!IsTime(time)) continue;
      time -= given_.corrections[static_cast<size_t>(unit.rank)];
      if (first == kNone64 || time < first) first = time;
      if (last == kNone64 || time > last) {
        before = std::exchange(last, time);
        arrival.last.unit = at;
      } else if (before == kNone64 || time > before) {
        before = time;
      }
    }
    if (before == kNone64) return {};
    arrival.last.late_ns = last - before;
    arrival.spread_ns = last - first;
    return arrival;
  }

  void AddCollective(int32_t at, const Group& group, const SeqRow& row) {
    auto units = index_.UnitsOf(group, row);
    Counting& counting = CountingOf(at, units.front());
    ++counting.traffic.count;
    AddCollectiveBytes(group, units, counting);
    if (units.size() < 2 || units.size() != group.members.size()) return;
    Arrival arrival = ArrivalOf(units);
    if (arrival.last.unit < 0) return;
    const Unit& last = index_.UnitAt(arrival.last.unit);
    RankArrival& rank = arrivals_.ranks[static_cast<size_t>(last.rank)];
    ++rank.times_last;
    rank.total_ns = AddBounded(rank.total_ns, arrival.last.late_ns);
    AddDelay(arrival.last, rank);
    AddTime(last, counting);
    counting.spreads.push_back(arrival.spread_ns);
  }

  // Only the one that came last does not wait for others, and both times are of its own clock.
  void AddTime(const Unit& unit, Counting& counting) const {
    int64_t time = index_.ops.duration_ns[unit.row];
    int64_t begin = index_.ops.created_ns[unit.row], end = index_.ops.completed_ns[unit.row];
    if (time == kNone64 && IsTime(begin) && IsTime(end)) time = end - begin;
    if (time < 0) return;
    counting.times.push_back(time);
    if (time <= counting.traffic.slowest_ns) return;
    counting.traffic.slowest_ns = time;
    counting.traffic.slowest_seq = unit.seq;
  }

  void AddTransfer(int32_t group, int32_t at) {
    const Unit& unit = index_.UnitAt(at);
    Counting& counting = CountingOf(group, at);
    ++counting.traffic.count;
    AddBytes(BytesOf(unit), 1, counting);
    AddTime(unit, counting);
  }

  // Most often the same op as the time before.
  Counting& CountingOf(int32_t group, int32_t at) {
    StringId op = index_.ops.op[index_.UnitAt(at).row];
    if (!counting_.empty() && counting_[last_counting_].traffic.op == op)
      return counting_[last_counting_];
    auto [found, is_new] = counting_of_op_.try_emplace(op, counting_.size());
    last_counting_ = found->second;
    if (!is_new) return counting_[last_counting_];
    Counting& counting = counting_.emplace_back();
    counting.traffic.group = group;
    counting.traffic.op = op;
    return counting;
  }

  struct Bytes {
    int64_t in;  // -1: not known
    int64_t out;
  };

  // Members agree on the sizes of most ops, so one stands for all.
  void AddCollectiveBytes(const Group& group, std::span<const int32_t> units, Counting& counting) {
    const Unit& first = index_.UnitAt(units.front());
    auto members = static_cast<int64_t>(group.members.size());
    if (!IsUneven(index_.ops.op[first.row])) {
      AddBytes(BytesOf(first), members, counting);
    } else {
      for (int32_t at : units) AddBytes(BytesOf(index_.UnitAt(at)), 1, counting);
    }
  }

  bool IsUneven(StringId op) {
    if (op != last_op_) uneven_ = ShapeOf(index_.Text(op)) != OpShape::kSame;
    last_op_ = op;
    return uneven_;
  }

  static void AddBytes(Bytes bytes, int64_t times, Counting& counting) {
    counting.inputs_known = counting.inputs_known && bytes.in >= 0;
    counting.outputs_known = counting.outputs_known && bytes.out >= 0;
    counting.inputs = AddTimes(counting.inputs, bytes.in, times);
    counting.outputs = AddTimes(counting.outputs, bytes.out, times);
  }

  // A region is its entries up to the end marker, which has no sizes.
  Bytes BytesOf(const Unit& unit) {
    Bytes sum = RowBytes(unit.row);
    auto self = static_cast<int32_t>(&unit - index_.units.data());
    size_t at = unit.row - static_cast<size_t>(index_.first_row) + 1;
    for (; unit.region && at < index_.unit_of_row.size() && index_.unit_of_row[at] == self; ++at) {
      Bytes more = RowBytes(at + static_cast<size_t>(index_.first_row));
      sum.in = sum.in < 0 || more.in < 0 ? -1 : AddBounded(sum.in, more.in);
      sum.out = sum.out < 0 || more.out < 0 ? -1 : AddBounded(sum.out, more.out);
    }
    return sum;
  }

  Bytes RowBytes(size_t row) {
    return {Side(index_.ops.input_sizes[row], index_.ops.input_dtypes[row]),
            Side(index_.ops.output_sizes[row], index_.ops.output_dtypes[row])};
  }

  int64_t Side(StringId sizes, StringId dtypes) {
    uint64_t key = uint64_t{static_cast<uint32_t>(sizes)} << 32 | static_cast<uint32_t>(dtypes);
    auto [found, is_new] = bytes_.try_emplace(key, -1);
    if (is_new) found->second = TensorBytes(index_.Text(sizes), index_.Text(dtypes));
    return found->second;
  }

  void Finish(const Group& group, Counting& counting) {
    Traffic& traffic = counting.traffic;
    auto members = static_cast<int64_t>(std::max<size_t>(group.members.size(), 1));
    if (counting.inputs_known) traffic.input_bytes = counting.inputs / members;
    if (counting.outputs_known) traffic.output_bytes = counting.outputs / members;
    if (!counting.times.empty()) traffic.median_ns = Median(std::move(counting.times));
    if (!counting.spreads.empty()) {
      traffic.longest_spread_ns =
          *std::max_element(counting.spreads.begin(), counting.spreads.end());
      traffic.median_spread_ns = Median(std::move(counting.spreads));
    }
    arrivals_.traffic.push_back(traffic);
  }

  const Index& index_;
  const Given& given_;
  Arrivals arrivals_;
  // Of the group at hand: its ops, and where in counting_ each is.
  std::vector<Counting> counting_;
  std::unordered_map<StringId, size_t> counting_of_op_;
  size_t last_counting_ = 0;
  std::unordered_map<uint64_t, int64_t> bytes_;
  StringId last_op_ = StringId::kNone;
  bool uneven_ = false;
};

// Of later groups; of delays that are as long, the earlier one stays.
void Join(Arrivals&& part, Arrivals& arrivals) {
  for (size_t i = 0; i < part.ranks.size(); ++i) {
    RankArrival& rank = arrivals.ranks[i];
    rank.times_last += part.ranks[i].times_last;
    rank.total_ns = AddBounded(rank.total_ns, part.ranks[i].total_ns);
    for (const Delay& delay : part.ranks[i].longest) AddDelay(delay, rank);
  }
  arrivals.traffic.insert(arrivals.traffic.end(), part.traffic.begin(), part.traffic.end());
}

}  // namespace

Arrivals FindArrivals(const Index& index) {
  Arrivals arrivals;
  arrivals.clocks = EstimateClocks(index);
  arrivals.ranks.resize(index.ranks.size());
  Given given;
  for (const ClockOffset& clock : arrivals.clocks)
    given.corrections.push_back(clock.correction_ns());
  for (const Channel& channel : index.channels) given.channels[channel.group].push_back(&channel);
  ForBlocks<Arrivals>(
      index, [&](GroupBlock block) { return Pass(index, given).Run(block); },
      [&](Arrivals&& part) { Join(std::move(part), arrivals); });
  return arrivals;
}

namespace {

// Does the rank make the others wait for a part of the time that matters? Its longest delay is left
// out: one is chance.
bool CostsTime(const Index& index, const RankArrival& arrival, int32_t rank) {
  constexpr double kFelt = 0.05;
  auto units = index.UnitsOf(rank);
  int64_t span = 0;
  if (units.empty()) return false;
  bool told = !__builtin_sub_overflow(index.ops.created_ns[units.back().row],
                                      index.ops.created_ns[units.front().row], &span);
  int64_t late = arrival.total_ns - arrival.longest.front().late_ns;
  return told && span > 0 && static_cast<double>(late) >= kFelt * static_cast<double>(span);
}

int64_t CollectivesOf(const Index& index, int32_t rank) {
  auto units = index.UnitsOf(rank);
  return std::count_if(units.begin(), units.end(), [](const Unit& unit) { return !unit.p2p; });
}

}  // namespace

// Who arrives last at many collectives of a job that does not hang? One late arrival is chance (a
// compilation, a checkpoint); a straggler is late by much several times, so the third-longest delay
// of each rank is compared.
void FindStragglers(const Index& index, const Arrivals& arrivals, std::vector<Cause>& causes) {
  constexpr int64_t kSmallestNs = 20'000'000;         // less is jitter of a host that does more
  constexpr double kFarther = 1.5;                    // beyond the next rank
  std::vector<std::pair<int64_t, int32_t>> repeated;  // third-longest delay, rank
  for (size_t rank = 0; rank < arrivals.ranks.size(); ++rank) {
    const Delay& third = arrivals.ranks[rank].longest.back();
    if (third.unit >= 0) repeated.emplace_back(third.late_ns, static_cast<int32_t>(rank));
  }
  std::sort(repeated.rbegin(), repeated.rend());
  if (repeated.size() < 2 || repeated[0].first < kSmallestNs) return;
  if (static_cast<double>(repeated[0].first) < kFarther * static_cast<double>(repeated[1].first))
    return;
  auto blamed = static_cast<size_t>(repeated[0].second);
  if (!CostsTime(index, arrivals.ranks[blamed], repeated[0].second)) return;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.straggler";
  cause.severity = Severity::kWarning;
  cause.ranks = {repeated[0].second};
  for (const Delay& delay : arrivals.ranks[blamed].longest) cause.units.push_back(delay.unit);
  const Unit& unit = index.UnitAt(cause.units.front());
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(NameInWords(index, unit));
  cause.what = fmt::format(
      "is a straggler: arrives last at {} of the {} collectives in its dump, three times by {} or "
      "more",
      arrivals.ranks[blamed].times_last, CollectivesOf(index, repeated[0].second),
      DurationText(repeated[0].first));
  cause.confidence = 0.6;
  bool corrected = std::any_of(arrivals.clocks.begin(), arrivals.clocks.end(),
                               [](const ClockOffset& clock) { return clock.correction_ns() != 0; });
  cause.why = fmt::format("no other rank is late three times by more than {}; {}",
                          DurationText(repeated[1].first),
                          corrected ? "clock offsets of hosts are corrected"
                                    : "clocks of hosts may differ by up to 100 ms");
  cause.next_step =
      "Compare a profile of this rank with one of a peer: is its host slower, or its GPU?";
}

}  // namespace debrief::analyses::flight
