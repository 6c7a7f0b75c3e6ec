#include <algorithm>
#include <cmath>
#include <limits>

#include "outputs/terminal/profile_diff/profile_diff.h"

namespace debrief::outputs::profile_diff {

namespace {

// Of fewer samples the scatter says nothing.
constexpr uint32_t kFewestSamples = 3;
// A median absolute deviation of normal noise is this much smaller than its standard deviation.
constexpr double kDeviationOfMad = 1.4826;
constexpr double kDeviations = 3;

using SampleTimes = std::vector<int64_t>;  // by sample

SampleTimes TimesOf(const Amounts& amounts, uint32_t samples) {
  SampleTimes times(samples, 0);
  for (const auto& [sample, time] : amounts.by_sample) times[sample] += time;
  return times;
}

int64_t Median(SampleTimes times) {
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

int64_t MedianDeviation(const SampleTimes& times, int64_t median) {
  SampleTimes deviations;
  for (int64_t time : times) deviations.push_back(std::abs(time - median));
  return Median(std::move(deviations));
}

// Square of the standard error of a mean.
double SquaredError(const SampleTimes& times, int64_t median) {
  const double deviation = kDeviationOfMad * static_cast<double>(MedianDeviation(times, median));
  return deviation * deviation / static_cast<double>(times.size());
}

// A single odd step moves the mean and not the median: both have to differ.
void Judge(const SampleTimes& a, const SampleTimes& b, Values& values) {
  if (a.size() < kFewestSamples || b.size() < kFewestSamples) return;
  const int64_t median_a = Median(a), median_b = Median(b);
  values.noise_ns =
      std::llround(kDeviations * std::sqrt(SquaredError(a, median_a) + SquaredError(b, median_b)));
  const bool is_larger = std::abs(values.difference()) > values.noise_ns &&
                         std::abs(median_b - median_a) > values.noise_ns;
  values.significance = is_larger ? Significance::kSignificant : Significance::kWithinNoise;
}

// To the nearest; `count` above 0. A product of a time and two counts needs more than 64 bits.
int64_t Divide(__int128 sum, __int128 count) {
  const __int128 half = count / 2;
  return static_cast<int64_t>(sum >= 0 ? (sum + half) / count : -((-sum + half) / count));
}

class Comparison {
 public:
  Comparison(const Side& a, const Side& b) : a_(a), b_(b) {}

  void AddParts(ProfileDiff& diff) const {
    diff.total = ValuesOf(a_.total, b_.total);
    int64_t sum_a = 0, sum_b = 0;
    for (size_t part = 0; part < kParts; ++part) {
      Values values;
      values.a_ns = NextMean(a_.parts[part].total_ns, a_.samples, sum_a);
      values.b_ns = NextMean(b_.parts[part].total_ns, b_.samples, sum_b);
      Judge(TimesOf(a_.parts[part], a_.samples), TimesOf(b_.parts[part], b_.samples), values);
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
      Values values{.a_ns = part.time.a_ns, .b_ns = part.time.b_ns};
      for (const NameDiff& kernel : diff.kernels) {
        if (kernel.part != part.part) continue;
        values.a_ns -= kernel.time.a_ns;
        values.b_ns -= kernel.time.b_ns;
      }
      Judge(OverlapTimes(a_, part.part), OverlapTimes(b_, part.part), values);
      diff.overlaps.push_back({part.part, values});
    }
  }

 private:
  // The mean of a sum's next piece, as the difference of rounded means of the running sum: so the
  // pieces add up to the rounded mean of the whole.
  static int64_t NextMean(int64_t piece, uint32_t samples, int64_t& running) {
    const int64_t before = Divide(running, samples);
    running += piece;
    return Divide(running, samples) - before;
  }

  Values ValuesOf(const Amounts& a, const Amounts& b) const {
    Values values{.a_ns = Divide(a.total_ns, a_.samples), .b_ns = Divide(b.total_ns, b_.samples)};
    Judge(TimesOf(a, a_.samples), TimesOf(b, b_.samples), values);
    return values;
  }

  void Add(const NamedAmounts::key_type& key, const Amounts& a, const Amounts& b,
           std::vector<NameDiff>& names) const {
    if (a.by_sample.empty() && b.by_sample.empty()) return;
    NameDiff diff{.part = key.first, .name = std::string(key.second), .time = ValuesOf(a, b)};
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
    const auto samples_a = static_cast<__int128>(a_.samples);
    const auto samples_b = static_cast<__int128>(b_.samples);
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
    SampleTimes times = TimesOf(side.parts[static_cast<size_t>(part)], side.samples);
    for (const auto& [key, amounts] : side.kernels) {
      if (key.first != part) continue;
      for (const auto& [sample, time] : amounts.by_sample) times[sample] -= time;
    }
    return times;
  }

  const Side& a_;
  const Side& b_;
};

Status NothingToCompare(std::string_view side) {
  return Status(Code::kNotFound, "no work on a device in " + std::string(side))
      .Remedy("Give profiles that were recorded with the activities of a device.");
}

}  // namespace

std::string_view SignificanceName(Significance significance) {
  switch (significance) {
    case Significance::kSignificant:
      return "significant";
    case Significance::kWithinNoise:
      return "within_noise";
    case Significance::kUnknown:
      break;
  }
  return "unknown";
}

Result<ProfileDiff> DiffProfiles(const Selection& a, const Selection& b) {
  ProfileDiff diff;
  diff.unit = HasSteps(a) && HasSteps(b) ? Unit::kStep : Unit::kTimeline;
  const Side side_a = SideOf(a, diff.unit), side_b = SideOf(b, diff.unit);
  if (side_a.samples == 0) return NothingToCompare("the first profile");
  if (side_b.samples == 0) return NothingToCompare("the second profile");
  diff.samples_a = side_a.samples;
  diff.samples_b = side_b.samples;
  const Comparison comparison(side_a, side_b);
  comparison.AddParts(diff);
  diff.kernels = comparison.Names(side_a.kernels, side_b.kernels);
  diff.ops = comparison.Names(side_a.ops, side_b.ops);
  comparison.AddOverlaps(diff);
  return diff;
}

}  // namespace debrief::outputs::profile_diff
