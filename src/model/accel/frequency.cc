#include "model/accel/frequency.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stats/statistics.h"
#include "model/accel/cycle_clock.h"

namespace debrief::accel {
namespace {

constexpr double kSafeGapUs = 500'000;  // a wrap takes longer, below 8.6 GHz

// Slopes between each sample and the farthest one that is near enough and of the same job.
double RoughMhz(std::span<const ClockSample> samples) {
  std::vector<std::pair<double, double>> slopes;
  slopes.reserve(samples.size());
  size_t far = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    far = std::max(far, i);
    while (far + 1 < samples.size() && samples[far + 1].job == samples[i].job &&
           samples[far + 1].host_us - samples[i].host_us < kSafeGapUs) {
      ++far;
    }
    const double gap = samples[far].host_us - samples[i].host_us;
    const int64_t cycles = (samples[far].cycles - samples[i].cycles) & (kCounterSpan - 1);
    if (samples[far].job != samples[i].job || gap <= 0 || cycles == 0) continue;
    slopes.emplace_back(static_cast<double>(cycles) / gap, gap);
  }
  return WeightedMedian(std::move(slopes));
}

// Points relative to the first one, so that doubles hold them well.
struct Points {
  std::vector<double> cycles;
  std::vector<double> host;
  std::vector<int32_t> job;
};

Points Unwrap(std::span<const ClockSample> samples, double mhz) {
  Points points;
  WrapCounter counter(mhz);
  int64_t first = 0;
  for (const ClockSample& sample : samples) {
    const int64_t wraps = counter.Wraps(sample.host_us, sample.cycles);
    const int64_t cycles = sample.cycles + wraps * kCounterSpan;
    if (points.cycles.empty()) first = cycles;
    points.cycles.push_back(static_cast<double>(cycles - first));
    points.host.push_back(sample.host_us - samples[0].host_us);
    points.job.push_back(sample.job);
  }
  return points;
}

// A line, or lines of one slope, one a job.
struct Fit {
  double us_per_cycle = 0;
  double slope_error = 0;
  std::vector<double> residuals;  // of all points, against the median of their line
};

struct Means {
  double count = 0, cycles = 0, host = 0;
};

class Fitter {
 public:
  Fitter(const Points& points, bool a_line_a_job)
      : points_(points), kept_(points.host.size(), true), line_(points.host.size(), 0) {
    if (a_line_a_job) NumberJobs();
  }

  Fit Run() {
    Fit fit;
    constexpr int kRounds = 6;
    for (int round = 0; round < kRounds; ++round) {
      Slope(fit);
      fit.residuals = Residuals(fit.us_per_cycle);
      if (!Trim(fit.residuals)) break;
    }
    return fit;
  }

  // Distances from lines of this slope; each line lies in the middle of its points.
  std::vector<double> Residuals(double us_per_cycle) const {
    std::vector<double> residuals(points_.host.size());
    std::vector<std::vector<double>> by_line(lines_);
    for (size_t i = 0; i < residuals.size(); ++i) {
      residuals[i] = points_.host[i] - us_per_cycle * points_.cycles[i];
      by_line[line_[i]].push_back(residuals[i]);
    }
    std::vector<double> middles;
    for (std::vector<double>& values : by_line) middles.push_back(Median(std::move(values)));
    for (size_t i = 0; i < residuals.size(); ++i) residuals[i] -= middles[line_[i]];
    return residuals;
  }

 private:
  void NumberJobs() {
    std::unordered_map<int32_t, size_t> numbers;
    for (size_t i = 0; i < line_.size(); ++i) {
      line_[i] = numbers.try_emplace(points_.job[i], numbers.size()).first->second;
    }
    lines_ = std::max<size_t>(numbers.size(), 1);
  }

  void Slope(Fit& fit) const {
    std::vector<Means> means(lines_);
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      means[line_[i]].count += 1;
      means[line_[i]].cycles += points_.cycles[i];
      means[line_[i]].host += points_.host[i];
    }
    double xx = 0, xy = 0, yy = 0, count = 0;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      const Means& mean = means[line_[i]];
      const double x = points_.cycles[i] - mean.cycles / mean.count;
      const double y = points_.host[i] - mean.host / mean.count;
      xx += x * x, xy += x * y, yy += y * y, count += 1;
    }
    if (xx <= 0) return;
    fit.us_per_cycle = xy / xx;
    const double free = count - static_cast<double>(lines_) - 1;
    const double left = std::max(0.0, yy - xy * fit.us_per_cycle);
    fit.slope_error = free > 0 ? std::sqrt(left / free / xx) : 0;
  }

  // Whether what is kept has changed.
  bool Trim(const std::vector<double>& residuals) {
    std::vector<double> sizes;
    for (const double residual : residuals) sizes.push_back(std::abs(residual));
    constexpr double kFar = 5;  // in median distances; 3.4 standard deviations of a normal error
    const double limit = kFar * Median(std::move(sizes)) + 1e-6;
    bool changed = false;
    for (size_t i = 0; i < residuals.size(); ++i) {
      const bool keep = std::abs(residuals[i]) <= limit;
      changed |= keep != kept_[i];
      kept_[i] = keep;
    }
    return changed;
  }

  const Points& points_;
  std::vector<bool> kept_;
  std::vector<size_t> line_;
  size_t lines_ = 1;
};

double MedianSize(std::vector<double> residuals) {
  for (double& residual : residuals) residual = std::abs(residual);
  return Median(std::move(residuals));
}

void Judge(const Fit& fit, const Points& points, double given_mhz, FrequencyEstimate& estimate) {
  estimate.mhz = 1 / fit.us_per_cycle;
  estimate.error_mhz = fit.slope_error * estimate.mhz * estimate.mhz;
  estimate.ppm = (estimate.mhz / given_mhz - 1) * 1e6;
  estimate.residual_us = MedianSize(fit.residuals);
  const auto [low, high] = std::minmax_element(points.cycles.begin(), points.cycles.end());
  estimate.drift_us = (*high - *low) * std::abs(fit.us_per_cycle - 1 / given_mhz);
  constexpr double kBeyondChance = 4;  // standard errors
  constexpr double kVisibleUs = 1;
  estimate.recommended = estimate.drift_us > kVisibleUs &&
                         estimate.given_residual_us > estimate.residual_us &&
                         std::abs(estimate.mhz - given_mhz) > kBeyondChance * estimate.error_mhz;
}

}  // namespace

FrequencyEstimate EstimateFrequency(std::span<const ClockSample> samples, double given_mhz) {
  FrequencyEstimate estimate;
  const double rough = samples.size() < 3 ? 0 : RoughMhz(samples);
  if (rough <= 0) return estimate;
  const Points points = Unwrap(samples, rough);
  Fitter one(points, false);
  Fitter per_job(points, true);
  const Fit together = one.Run();
  const Fit apart = per_job.Run();
  // Jobs that share a clock share a line, and it is longer, hence better, than theirs.
  estimate.jobs_shifted = MedianSize(together.residuals) > 3 * MedianSize(apart.residuals) + 0.01 &&
                          apart.us_per_cycle > 0;
  const Fit& fit = estimate.jobs_shifted ? apart : together;
  if (fit.us_per_cycle <= 0) return estimate;
  const Fitter& used = estimate.jobs_shifted ? per_job : one;
  estimate.samples = samples.size();
  estimate.given_residual_us = MedianSize(used.Residuals(1 / given_mhz));
  Judge(fit, points, given_mhz, estimate);
  return estimate;
}

}  // namespace debrief::accel
