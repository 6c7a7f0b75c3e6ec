#include <algorithm>
#include <cstdlib>

#include "outputs/terminal/profile_diff/profile_diff.h"

namespace debrief::outputs::profile_diff {

namespace {

using SampleTimes = std::vector<int64_t>;  // by sample

// To the nearest; `count` above 0. A product of a time and two counts needs more than 64 bits.
int64_t Divide(__int128 sum, __int128 count) {
  const __int128 half = count / 2;
  return static_cast<int64_t>(sum >= 0 ? (sum + half) / count : -((-sum + half) / count));
}

// Means over ranks.
SampleTimes TimesOf(const Amounts& amounts, const Side& side) {
  SampleTimes times(side.samples, 0);
  for (const auto& [sample, time] : amounts.by_sample) times[sample] += time;
  for (int64_t& time : times) time = Divide(time, side.ranks);
  return times;
}

// Whether the difference of the means may be chance.
void Judge(const SampleTimes& a, const SampleTimes& b, int64_t floor, Change& means) {
  const Change judged = ChangeOf(a, b, floor);
  means.noise = judged.noise;
  means.is_real = judged.is_real;
}

class Comparison {
 public:
  Comparison(const Side& a, const Side& b) : a_(a), b_(b) {}

  // The total is the mean of the samples, as `debrief diff` has it; idle time takes what rounding
  // leaves, so that the parts add up to it.
  void AddParts(ProfileDiff& diff) const {
    const SampleTimes totals_a = TimesOf(a_.total, a_), totals_b = TimesOf(b_.total, b_);
    const int64_t floor = SmallestThatMatters(Mean(totals_a));
    diff.total = ChangeOf(totals_a, totals_b, floor);
    int64_t sum_a = 0, sum_b = 0, left_a = diff.total.a, left_b = diff.total.b;
    for (size_t part = 0; part < kParts; ++part) {
      Change values;
      values.a = NextMean(a_.parts[part].total_ns, a_.windows(), sum_a);
      values.b = NextMean(b_.parts[part].total_ns, b_.windows(), sum_b);
      if (part + 1 == kParts) {
        values.a = left_a;
        values.b = left_b;
      }
      left_a -= values.a;
      left_b -= values.b;
      Judge(TimesOf(a_.parts[part], a_), TimesOf(b_.parts[part], b_), floor, values);
      diff.parts.push_back({static_cast<TimePart>(part), values});
    }
  }

  std::vector<NameDiff> Names(const NamedAmounts& a, const NamedAmounts& b) const {
    std::vector<NameDiff> names;
    const Amounts missing;
    for (const auto& [key, amounts] : a) {
      auto other = b.find(key);
      Add(key, amounts, other == b.end() ? missing : other->second, names);
    }
    for (const auto& [key, amounts] : b)
      if (!a.contains(key)) Add(key, missing, amounts, names);
    std::stable_sort(names.begin(), names.end(), [](const NameDiff& x, const NameDiff& y) {
      return std::abs(x.time.difference()) > std::abs(y.time.difference());
    });
    return names;
  }

  // What the kernels of each part take more than the part.
  void AddOverlaps(ProfileDiff& diff) const {
    for (const PartDiff& part : diff.parts) {
      if (part.part == TimePart::kIdle) continue;
      Change values{.a = part.time.a, .b = part.time.b};
      for (const NameDiff& kernel : diff.kernels) {
        if (kernel.part != part.part) continue;
        values.a -= kernel.time.a;
        values.b -= kernel.time.b;
      }
      Judge(OverlapTimes(a_, part.part), OverlapTimes(b_, part.part), 0, values);
      diff.overlaps.push_back({part.part, values});
    }
  }

 private:
  // The mean of a sum's next piece, as the difference of rounded means of the running sum: so the
  // pieces add up to the rounded mean of the whole.
  static int64_t NextMean(int64_t piece, uint32_t windows, int64_t& running) {
    const int64_t before = Divide(running, windows);
    running += piece;
    return Divide(running, windows) - before;
  }

  Change ChangeOfMeans(const Amounts& a, const Amounts& b) const {
    Change values{.a = Divide(a.total_ns, a_.windows()), .b = Divide(b.total_ns, b_.windows())};
    Judge(TimesOf(a, a_), TimesOf(b, b_), 0, values);
    return values;
  }

  void Add(const NamedAmounts::key_type& key, const Amounts& a, const Amounts& b,
           std::vector<NameDiff>& names) const {
    if (a.by_sample.empty() && b.by_sample.empty()) return;
    NameDiff diff{.part = key.first, .name = std::string(key.second), .time = ChangeOfMeans(a, b)};
    diff.count_a = a.count;
    diff.count_b = b.count;
    diff.count_effect_ns = CountEffect(a, b, diff.time.difference());
    diff.duration_effect_ns = diff.time.difference() - diff.count_effect_ns;
    diff.verdict = VerdictOf(diff);
    names.push_back(std::move(diff));
  }

  // (launches a sample in B - those in A) x mean duration in A; all of it where one side has none.
  int64_t CountEffect(const Amounts& a, const Amounts& b, int64_t difference) const {
    if (a.count == 0 || b.count == 0) return difference;
    const auto samples_a = static_cast<__int128>(a_.windows());
    const auto samples_b = static_cast<__int128>(b_.windows());
    const __int128 more = b.count * samples_a - a.count * samples_b;
    return Divide(a.total_ns * more, a.count * samples_a * samples_b);
  }

  static std::string_view VerdictOf(const NameDiff& diff) {
    if (diff.count_a == 0 && diff.count_b > 0) return "new";
    if (diff.count_b == 0 && diff.count_a > 0) return "gone";
    const int64_t by_count = diff.count_effect_ns, by_duration = diff.duration_effect_ns;
    if (by_count == 0 && by_duration == 0) return "same";
    if (std::abs(by_count) > std::abs(by_duration))
      return by_count > 0 ? "more_launches" : "fewer_launches";
    return by_duration > 0 ? "slower" : "faster";
  }

  static SampleTimes OverlapTimes(const Side& side, TimePart part) {
    Amounts left = side.parts[static_cast<size_t>(part)];
    for (const auto& [key, amounts] : side.kernels) {
      if (key.first != part) continue;
      for (const auto& [sample, time] : amounts.by_sample)
        left.by_sample.emplace_back(sample, -time);
    }
    return TimesOf(left, side);
  }

  const Side& a_;
  const Side& b_;
};

Status NothingToCompare(std::string_view side) {
  return Status(Code::kNotFound, "no work on a device in " + std::string(side))
      .Remedy("Give profiles that were recorded with the activities of a device.");
}

}  // namespace

std::string_view SignificanceName(const Change& change) {
  if (change.noise == kNone64) return "unknown";
  return change.is_real ? "significant" : "within_noise";
}

int64_t SmallestThatMatters(int64_t sample_ns) { return PercentOf(sample_ns, 2); }

Result<ProfileDiff> DiffProfiles(const Selection& a, const Selection& b) {
  ProfileDiff diff;
  Side side_a = SideOf(a, Unit::kStep), side_b = SideOf(b, Unit::kStep);
  if (side_a.kernels.empty() || side_b.kernels.empty()) {
    diff.unit = Unit::kTimeline;
    side_a = SideOf(a, Unit::kTimeline);
    side_b = SideOf(b, Unit::kTimeline);
  }
  if (side_a.samples == 0) return NothingToCompare("the first profile");
  if (side_b.samples == 0) return NothingToCompare("the second profile");
  diff.samples_a = side_a.windows();
  diff.samples_b = side_b.windows();
  diff.steps_a = side_a.samples;
  diff.steps_b = side_b.samples;
  diff.left_out_a = static_cast<int64_t>(side_a.left_out);
  diff.left_out_b = static_cast<int64_t>(side_b.left_out);
  const Comparison comparison(side_a, side_b);
  comparison.AddParts(diff);
  diff.kernels = comparison.Names(side_a.kernels, side_b.kernels);
  diff.ops = comparison.Names(side_a.ops, side_b.ops);
  comparison.AddOverlaps(diff);
  return diff;
}

}  // namespace debrief::outputs::profile_diff
