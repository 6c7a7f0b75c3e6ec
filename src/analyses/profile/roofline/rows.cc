#include "analyses/profile/roofline/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/strings.h"
#include "tables/profile_roofline.h"
#include "tables/profile_roofline_call.h"
#include "tables/profile_roofline_sum.h"

namespace debrief::analyses::profile_roofline {

namespace {

using timeline::TimelineView;

constexpr double kGoodCompute = 0.8, kGoodMemory = 0.85;  // shares of the roof that code reaches
constexpr int64_t kFloorNs = 1500, kFloorOfAmdNs = 4000;  // of the shortest kernel
constexpr std::string_view kModulePrefix = "nn.Module: ";

std::string_view WordOf(Direction direction) {
  if (direction == Direction::kForward) return "forward";
  return direction == Direction::kBackward ? "backward" : "recompute";
}

// Rates of `work`, done `times` times in `busy_ns`.
template <typename Row>
void SetRates(const OpWork& work, double times, int64_t busy_ns, Row& row) {
  row.flops = work.flops;
  row.bytes = work.bytes;
  if (busy_ns <= 0) return;
  const auto ns = static_cast<double>(busy_ns);
  row.tflops = static_cast<double>(work.flops) * times / ns / 1e3;
  row.gbps = static_cast<double>(work.bytes) * times / ns;
}

struct SomeCalls {
  int64_t count = 0, kernels = 0, busy_ns = 0;
};

// Calls of one category, op or module, put together.
struct Sum {
  int64_t count = 0, kernels = 0, busy_ns = 0, modelled_ns = 0, roofed_ns = 0;
  double flops = 0, bytes = 0, roof_ns = 0, save_ns = 0;
  std::map<std::string_view, int64_t> bounds;  // time by what it is bound by
};

int64_t Rounded(double value) { return std::llround(std::min(value, 9e18)); }

class RowWriter {
 public:
  RowWriter(const TimelineView& view, const DeviceCalls& calls, const DeviceRoof& roof,
            const GeneratedCode& code, Part& part)
      : view_(view), calls_(calls), roof_(roof), code_(code), part_(part) {
    for (const CallKind& kind : calls.kinds) busy_ns_ += kind.busy_ns;
    const bool is_amd = Contains(view.model.pools.Text(roof.name), "AMD");
    floor_ns_ = std::min(is_amd ? kFloorOfAmdNs : kFloorNs, calls.floor_ns);
  }

  RoofSummary Write() {
    for (const CallKind& kind : calls_.kinds) {
      figures_.push_back(FiguresOf(kind, Definition::kDebrief));
      AddRow(kind, figures_.back(), Definition::kDebrief);
    }
    AddMfu(view_, calls_, figures_, roof_, part_);
    AddCallsAndSums();
    for (const CallKind& kind : calls_.of_tracelens) {
      const KindFigures figures = FiguresOf(kind, Definition::kTraceLens);
      if (figures.work) AddRow(kind, figures, Definition::kTraceLens);
    }
    summary_.busy_ns = busy_ns_;
    return std::move(summary_);
  }

 private:
  KindFigures FiguresOf(const CallKind& kind, Definition definition) const {
    const Pools& pools = view_.model.pools;
    const std::string_view op = pools.Text(kind.key.op), kernel = pools.Text(kind.kernel);
    KindFigures figures{.model = ModelOf(op)};
    if (!figures.model) {
      figures.why_not = "no model of this op";
      return figures;
    }
    if (kind.key.shapes == StringId::kNone) {
      figures.why_not = "recorded without shapes";
      return figures;
    }
    const OpArgs args = ParseArgs(pools.Text(kind.key.shapes), pools.Text(kind.key.types),
                                  pools.Text(kind.key.values), pools.Text(kind.key.strides));
    CallFacts facts{.kernel = kernel};
    if (kind.key.kernel_file != StringId::kNone)
      facts.generated = code_.KernelOf(view_.who, pools.Text(kind.key.kernel_file));
    figures.work = WorkOf(op, args, definition, facts);
    if (!figures.work) {
      figures.why_not = std::ranges::find(args.types, "TensorList") == args.types.end()
                            ? "its arguments do not say"
                            : "shapes or types of its list of tensors are not recorded";
      return figures;
    }
    figures.precision = IsMatrix(figures.model->category)
                            ? profile::PrecisionOf(TypeOfWork(op, args), kernel)
                            : "vector";
    if (roof_.peaks) figures.peak = profile::PeakOf(*roof_.peaks, figures.precision);
    const bool is_known = figures.peak > 0 && roof_.peaks->memory > 0;
    if (!is_known || kind.is_copy || kind.busy_ns <= 0) return figures;
    figures.compute_ns = static_cast<double>(figures.work->flops) / figures.peak / 1e3;
    figures.memory_ns = static_cast<double>(figures.work->bytes) / roof_.peaks->memory;
    figures.has_roof = true;
    figures.odd_size = OddSizeOf(op, args);
    return figures;
  }

  void AddRow(const CallKind& kind, const KindFigures& figures, Definition definition) {
    const bool is_own = definition == Definition::kDebrief;
    auto row = view_.NewRow<ProfileRooflineRow>();
    row.definition = part_.pools.Intern(is_own ? "debrief" : "tracelens");
    row.op = timeline::Copied(view_.model, kind.key.op, part_);
    row.category =
        part_.pools.Intern(figures.model ? CategoryName(figures.model->category) : "other");
    row.shapes = timeline::Copied(view_.model, kind.key.shapes, part_);
    row.dtypes = timeline::Copied(view_.model, kind.key.types, part_);
    row.count = kind.count;
    row.kernels = kind.kernels;
    row.busy_ns = kind.busy_ns;
    if (busy_ns_ > 0) row.share = static_cast<double>(kind.busy_ns) / static_cast<double>(busy_ns_);
    row.starved = static_cast<double>(kind.starved) / static_cast<double>(kind.kernels);
    if (is_own) row.direction = part_.pools.Intern(WordOf(kind.key.direction));
    if (kind.is_copy) row.bound = part_.pools.Intern("transfer");
    if (!figures.why_not.empty()) row.why_not = part_.pools.Intern(figures.why_not);
    if (figures.work) SetWork(kind, figures, row);
    if (is_own && figures.odd_size > 0) NoteOdd(kind, figures, row);
    part_.tables.Edit<ProfileRooflineTable>().Add(row);
  }

  void NoteOdd(const CallKind& kind, const KindFigures& figures, const ProfileRooflineRow& row) {
    constexpr double kPoor = 0.3;
    if (row.efficiency >= kPoor) return;
    OddProducts& odd = summary_.odd[figures.odd_size];
    odd.save_ns += row.save_ns;
    odd.busy_ns += kind.busy_ns;
    odd.roof_ns += Rounded(figures.RoofNs() * static_cast<double>(kind.count));
    if (row.save_ns <= odd.row_save_ns) return;
    odd.row_save_ns = row.save_ns;
    odd.row = static_cast<int64_t>(part_.tables.Get<ProfileRooflineTable>().size());
  }

  void SetWork(const CallKind& kind, const KindFigures& figures, ProfileRooflineRow& row) {
    SetRates(*figures.work, static_cast<double>(kind.count), kind.busy_ns, row);
    row.precision = part_.pools.Intern(figures.precision);
    if (!figures.work->estimated.empty())
      row.estimated = part_.pools.Intern(figures.work->estimated);
    if (!figures.has_roof) return;
    row.compute_ns = std::llround(figures.compute_ns);
    row.memory_ns = std::llround(figures.memory_ns);
    row.roof_ns = std::llround(figures.RoofNs());
    row.efficiency =
        figures.RoofNs() * static_cast<double>(kind.count) / static_cast<double>(kind.busy_ns);
    row.bound = part_.pools.Intern(figures.BoundOf(kind.kernels, kind.count, floor_ns_));
    row.save_ns = figures.SaveOf(kind.busy_ns, kind.count);
  }

  void AddCallsAndSums() {
    std::map<std::pair<std::string_view, std::string_view>, Sum> sums;
    for (size_t i = 0; i < calls_.kinds.size(); ++i) {
      const CallKind& kind = calls_.kinds[i];
      const auto& model = figures_[i].model;
      const SomeCalls whole{kind.count, kind.kernels, kind.busy_ns};
      AddTo(sums[{"all", ""}], whole, i);
      AddTo(sums[{"category", model ? CategoryName(model->category) : "other"}], whole, i);
      AddTo(sums[{"op", view_.model.pools.Text(kind.key.op)}], whole, i);
    }
    for (const Call& call : calls_.calls) {
      if (figures_[call.kind].work) AddCall(call, figures_[call.kind]);
      const std::string_view module = ModuleOf(call);
      if (!module.empty())
        AddTo(sums[{"module", module}], {1, call.kernels, call.busy_ns}, call.kind);
    }
    for (const auto& [name, sum] : sums) AddSum(name.first, name.second, sum);
  }

  std::string_view ModuleOf(const Call& call) const {
    std::string_view name = call.module == kNone32 ? "" : view_.NameOf(call.module);
    if (name.starts_with(kModulePrefix)) name.remove_prefix(kModulePrefix.size());
    if (!name.empty()) return name;
    const auto row = view_.OpRow(call.op);
    return row ? view_.model.pools.Text(view_.model.tables.Get<TimelineOpTable>().module[*row])
               : std::string_view();
  }

  void AddCall(const Call& call, const KindFigures& figures) {
    auto row = view_.NewRow<ProfileRooflineCallRow>();
    const CallKind& kind = calls_.kinds[call.kind];
    row.slice = call.op;
    row.direction = part_.pools.Intern(WordOf(kind.key.direction));
    row.step = call.step;
    row.kernels = call.kernels;
    row.busy_ns = call.busy_ns;
    SetRates(*figures.work, 1, call.busy_ns, row);
    if (kind.is_copy) row.bound = part_.pools.Intern("transfer");
    if (figures.has_roof && call.busy_ns > 0) {
      row.roof_ns = std::llround(figures.RoofNs());
      row.efficiency = figures.RoofNs() / static_cast<double>(call.busy_ns);
      row.bound = part_.pools.Intern(figures.BoundOf(call.kernels, 1, floor_ns_));
    }
    part_.tables.Edit<ProfileRooflineCallTable>().Add(row);
  }

  // `some`: all calls of the kind, or some of them. What could be saved is shared by the calls of a
  // kind, by their time.
  void AddTo(Sum& sum, const SomeCalls& some, size_t kind_number) const {
    const CallKind& kind = calls_.kinds[kind_number];
    const KindFigures& figures = figures_[kind_number];
    const auto times = static_cast<double>(some.count);
    sum.count += some.count;
    sum.kernels += some.kernels;
    sum.busy_ns += some.busy_ns;
    if (kind.is_copy) sum.bounds["transfer"] += some.busy_ns;
    if (!figures.work) return;
    sum.modelled_ns += some.busy_ns;
    sum.flops += static_cast<double>(figures.work->flops) * times;
    sum.bytes += static_cast<double>(figures.work->bytes) * times;
    if (!figures.has_roof) return;
    sum.roofed_ns += some.busy_ns;
    sum.roof_ns += figures.RoofNs() * times;
    sum.bounds[figures.BoundOf(kind.kernels, kind.count, floor_ns_)] += some.busy_ns;
    if (!figures.work->estimated.empty()) return;
    const auto save = static_cast<double>(figures.SaveOf(kind.busy_ns, kind.count));
    sum.save_ns += save * static_cast<double>(some.busy_ns) / static_cast<double>(kind.busy_ns);
  }

  void AddSum(std::string_view scope, std::string_view name, const Sum& sum) {
    auto row = view_.NewRow<ProfileRooflineSumRow>();
    row.scope = part_.pools.Intern(scope);
    if (!name.empty()) row.name = part_.pools.Intern(name);
    row.count = sum.count;
    row.kernels = sum.kernels;
    row.busy_ns = sum.busy_ns;
    const auto all = static_cast<double>(std::max<int64_t>(1, busy_ns_));
    row.share = static_cast<double>(sum.busy_ns) / all;
    if (sum.busy_ns > 0)
      row.modelled_share = static_cast<double>(sum.modelled_ns) / static_cast<double>(sum.busy_ns);
    if (sum.modelled_ns > 0) {
      row.flops = Rounded(sum.flops);
      row.bytes = Rounded(sum.bytes);
      row.tflops = sum.flops / static_cast<double>(sum.modelled_ns) / 1e3;
      row.gbps = sum.bytes / static_cast<double>(sum.modelled_ns);
    }
    if (sum.roofed_ns > 0) {
      row.roof_ns = Rounded(sum.roof_ns);
      row.efficiency = sum.roof_ns / static_cast<double>(sum.roofed_ns);
      row.save_ns = Rounded(sum.save_ns);
      row.save_share = sum.save_ns / all;
    }
    const auto most =
        std::ranges::max_element(sum.bounds, {}, [](const auto& each) { return each.second; });
    if (most != sum.bounds.end()) row.bound = part_.pools.Intern(most->first);
    part_.tables.Edit<ProfileRooflineSumTable>().Add(row);
  }

  const TimelineView& view_;
  const DeviceCalls& calls_;
  const DeviceRoof& roof_;
  const GeneratedCode& code_;
  Part& part_;
  std::vector<KindFigures> figures_;  // by the numbers of kinds
  int64_t busy_ns_ = 0, floor_ns_ = 0;
  RoofSummary summary_;
};

}  // namespace

std::string_view KindFigures::BoundOf(int64_t kernels, int64_t count, int64_t floor_ns) const {
  const double roof = RoofNs() * static_cast<double>(count);
  if (static_cast<double>(kernels * floor_ns) > roof) return "launch";
  return compute_ns >= memory_ns ? "compute" : "memory";
}

int64_t KindFigures::SaveOf(int64_t busy_ns, int64_t count) const {
  const double good = compute_ns >= memory_ns ? kGoodCompute : kGoodMemory;
  const double reachable = RoofNs() * static_cast<double>(count) / good;
  return std::max<int64_t>(0, busy_ns - Rounded(reachable));
}

RoofSummary AddRows(const TimelineView& view, const DeviceCalls& calls, const DeviceRoof& roof,
                    const GeneratedCode& code, Part& part) {
  return calls.kinds.empty() ? RoofSummary() : RowWriter(view, calls, roof, code, part).Write();
}

}  // namespace debrief::analyses::profile_roofline
