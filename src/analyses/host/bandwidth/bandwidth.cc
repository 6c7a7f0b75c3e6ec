// Who arrives last at collectives, and which communicator or pair of ranks is slow, by NCCL
// Inspector?
//
// The time of a collective includes waiting for the last member: who waits least is the one that
// the others wait for. What is left without the waiting (the best of many) is the speed of the
// links.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/host/bandwidth/meetings.h"
#include "base/stats/statistics.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/job.h"
#include "tables/nccl_bandwidth.h"
#include "tables/nccl_perf.h"
#include "tables/process_identity.h"
#include "tables/rank.h"
#include "torch/collective_names.h"

namespace debrief::analyses::host_bandwidth {

namespace {

constexpr size_t kFewestOps = 5;
constexpr double kSlowLink = 0.6;  // of what comparable ones reach

double QuantileOf(std::vector<double> values, double share) {
  if (values.empty()) return kNoDouble;
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

class Judging {
 public:
  Judging(const Model& model, const Record& record, AnalysisResult& result)
      : model_(model), perf_(model.tables.Get<NcclPerfTable>()), record_(record), result_(result) {}

  void Judge() {
    for (const auto& [key, kind] : record_.kinds) AddRow(key, kind);
    FindStraggler();
    FindSlowLinks();
    FindFirstToStop();
  }

 private:
  static constexpr double kBest = 0.9;

  std::vector<double> SpeedsOf(const Kind& kind) const {
    std::vector<double> speeds;
    for (int64_t row : kind.rows) {
      const double speed = perf_.bus_gbs[static_cast<size_t>(row)];
      if (speed > 0) speeds.push_back(speed);
    }
    return speeds;
  }

  void AddRow(const KindKey& key, const Kind& kind) {
    Part& part = result_.part;
    const Process& process = record_.processes[static_cast<size_t>(key.process)];
    auto word = [&](StringId id) {
      return id == StringId::kNone ? id : part.pools.Intern(model_.pools.Text(id));
    };
    NcclBandwidthRow row;
    std::tie(row.job, row.attempt) = record_.attempt;
    row.rank = process.rank;
    row.comm = word(key.comm == StringId::kNone ? key.name : key.comm);
    row.comm_size = kind.comm_size;
    if (!process.host.empty()) row.host = part.pools.Intern(process.host);
    row.pid = process.pid;
    row.op = word(key.op);
    row.peer = key.peer;
    if (key.size_bits != kNone32)
      row.bytes = key.size_bits == 0 ? 0 : int64_t{1} << std::min(key.size_bits - 1, 62);
    row.operations = static_cast<int64_t>(kind.rows.size());
    std::vector<int64_t> durations;
    for (int64_t at : kind.rows) {
      const auto from = static_cast<size_t>(at);
      if (perf_.duration_ns[from] != kNone64) durations.push_back(perf_.duration_ns[from]);
      row.last_seq = std::max(row.last_seq, perf_.seq[from]);
    }
    if (!durations.empty()) row.duration_ns = Median(std::move(durations));
    const std::vector<double> speeds = SpeedsOf(kind);
    if (!speeds.empty()) row.bus_gbs = Median(speeds);
    row.best_gbs = QuantileOf(speeds, kBest);
    row.met = kind.met;
    row.arrived_last = kind.arrived_last;
    row.others_waited_ns = kind.others_waited_ns;
    part.tables.Edit<NcclBandwidthTable>().Add(row);
  }

  Finding NewFinding(std::string_view rule) const {
    Finding finding;
    finding.rule = rule;
    std::tie(finding.job, finding.attempt) = record_.attempt;
    return finding;
  }

  std::string NameOf(const Process& process) const {
    if (process.rank != kNone32) return fmt::format("Rank {}", process.rank);
    if (process.pid != kNone64) return fmt::format("Process {} on {}", process.pid, process.host);
    return fmt::format("GPU {} of {}", process.gpu, process.host);
  }

  // One process that comes last to most of its collectives, and nobody else to nearly as many.
  void FindStraggler() {
    const std::vector<Lateness>& all = record_.lateness;
    const auto worst =
        std::max_element(all.begin(), all.end(),
                         [](const Lateness& a, const Lateness& b) { return a.last < b.last; });
    if (worst == all.end() || worst->last < static_cast<int64_t>(kFewestOps)) return;
    int64_t second = 0;
    for (auto each = all.begin(); each != all.end(); ++each) {
      if (each != worst) second = std::max(second, each->last);
    }
    const bool usual = worst->last * 2 >= worst->met && second * 2 < worst->last;
    const bool felt = worst->others_waited_ns * 10 >= worst->time_ns;
    if (!usual || !felt) return;
    const Process& process = record_.processes[static_cast<size_t>(worst - all.begin())];
    Finding finding = NewFinding("host_bandwidth.straggler");
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    if (process.rank != kNone32) finding.ranks = {process.rank};
    finding.headline = fmt::format(
        "{} is a straggler: arrives last at {} of {} collectives, others wait {}", NameOf(process),
        worst->last, worst->met, DurationText(worst->others_waited_ns));
    finding.evidence.push_back(
        {"NCCL Inspector: its operations are shorter than those of the others", "nccl_perf",
         worst->rows});
    finding.confidence = 0.7;
    finding.why = "a member that does not wait is the one that the others wait for";
    finding.next_step = "Compare the clocks and the work of its GPU with another rank's.";
    result_.findings.push_back(std::move(finding));
  }

  // What can be compared: the same operation and size over as many ranks and nodes.
  using Class = std::tuple<StringId, StringId, int32_t, int32_t, int32_t, bool>;
  struct Link {
    std::vector<double> speeds;
    std::vector<int32_t> ranks;
    std::vector<int64_t> rows;
    int32_t peer = kNone32;
    StringId comm = StringId::kNone;
  };
  using LinkKey = std::tuple<StringId, StringId, int32_t, int32_t>;  // pairs: process and peer

  std::map<Class, std::map<LinkKey, Link>> CollectLinks() const {
    std::map<Class, std::map<LinkKey, Link>> classes;
    for (const auto& [key, kind] : record_.kinds) {
      const bool pair = key.peer != kNone32;
      const Class of{key.op, key.range, key.size_bits, kind.comm_size, kind.nodes, pair};
      Link& link = classes[of][{key.comm, key.name, pair ? key.process : kNone32, key.peer}];
      const std::vector<double> speeds = SpeedsOf(kind);
      link.speeds.insert(link.speeds.end(), speeds.begin(), speeds.end());
      const int32_t rank = record_.processes[static_cast<size_t>(key.process)].rank;
      if (rank != kNone32) link.ranks.push_back(rank);
      link.peer = key.peer;
      link.comm = key.name == StringId::kNone ? key.comm : key.name;
      if (link.rows.size() < 3) link.rows.push_back(kind.rows.front());
    }
    return classes;
  }

  void FindSlowLinks() {
    constexpr size_t kFewestLinks = 3;
    struct Slow {
      double speed = 0, usual = 0;
      size_t links = 0;
      Link link;
      StringId op = StringId::kNone;
    };
    Slow worst;
    for (const auto& [of, links] : CollectLinks()) {
      std::vector<double> bests;
      std::vector<const Link*> known;
      for (const auto& [key, link] : links) {
        if (link.speeds.size() < kFewestOps) continue;
        bests.push_back(QuantileOf(link.speeds, kBest));
        known.push_back(&link);
      }
      if (known.size() < kFewestLinks) continue;
      const double usual = Median(bests);
      for (size_t i = 0; i < known.size(); ++i) {
        const bool worse = worst.usual == 0 || bests[i] * worst.usual < worst.speed * usual;
        if (bests[i] >= kSlowLink * usual || !worse) continue;
        worst = {bests[i], usual, known.size(), *known[i], std::get<0>(of)};
      }
    }
    if (worst.usual > 0)
      ReportSlowLink(worst.link, worst.op, worst.speed, worst.usual, worst.links);
  }

  void ReportSlowLink(Link link, StringId op, double speed, double usual, size_t links) {
    std::sort(link.ranks.begin(), link.ranks.end());
    link.ranks.erase(std::unique(link.ranks.begin(), link.ranks.end()), link.ranks.end());
    Finding finding = NewFinding("host_bandwidth.slow_link");
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    finding.ranks = link.ranks;
    const bool pair = link.peer != kNone32;
    std::string where = link.ranks.empty()
                            ? fmt::format("communicator {}", model_.pools.Text(link.comm))
                            : RanksInWords(link.ranks);
    if (pair) where = fmt::format("{} with rank {} of its communicator", where, link.peer);
    finding.op = timeline::PublicOp(model_.pools.Text(op));
    finding.headline =
        fmt::format("{} of {} reaches {:.1f} GB/s, {} comparable {} reach {:.1f} GB/s", finding.op,
                    where, speed, links - 1, pair ? "pairs" : "groups", usual);
    finding.evidence.push_back({"NCCL Inspector: bandwidth of the links (90th percentile)",
                                "nccl_perf", std::move(link.rows)});
    finding.confidence = 0.6;
    finding.why = "the best of many operations, so that waiting for a late rank does not count";
    finding.next_step =
        "Run with NCCL_DEBUG=INFO: it prints the transport and the network card of each link.";
    result_.findings.push_back(std::move(finding));
  }

  // In a hang, the last collective that each process completed.
  void FindFirstToStop() {
    constexpr int64_t kEarlierNs = 10LL * 1'000'000'000;
    constexpr size_t kFewest = 3;
    std::vector<std::pair<int64_t, const Process*>> ends;
    for (const Process& process : record_.processes) {
      if (process.last_ns != kNone64) ends.emplace_back(process.last_ns, &process);
    }
    if (ends.size() < kFewest) return;
    std::sort(ends.begin(), ends.end());
    const Process& first = *ends[0].second;
    if (ends[1].first - ends[0].first < kEarlierNs) return;
    const auto row = static_cast<size_t>(first.last_row);
    Finding finding = NewFinding("host_bandwidth.first_to_stop");
    finding.severity = Severity::kInfo;
    finding.role = Role::kObservation;
    if (first.rank != kNone32) finding.ranks = {first.rank};
    finding.headline =
        fmt::format("{} completed its last collective, {} #{}, {} before all others", NameOf(first),
                    timeline::PublicOp(model_.pools.Text(perf_.op[row])),
                    perf_.seq[row] == kNone64 ? 0 : perf_.seq[row],
                    DurationInWords(ends[1].first - ends[0].first));
    finding.evidence.push_back({"NCCL Inspector: its last record", "nccl_perf", {first.last_row}});
    finding.confidence = 0.6;
    finding.why = "NCCL Inspector writes what has completed";
    finding.next_step = "See where that rank stands: its stack, its output.";
    result_.findings.push_back(std::move(finding));
  }

  const Model& model_;
  const NcclPerfTable& perf_;
  const Record& record_;
  AnalysisResult& result_;
};

Status Run(const Model& model, AnalysisResult& result) {
  for (const Record& record : CollectRecords(model)) Judging(model, record, result).Judge();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "host_bandwidth",
               .sentence = "Who arrives last at collectives, and which links are slow, by NCCL "
                           "Inspector?",
               .example =
                   "Rank 3 is a straggler: arrives last at 40 of 50 collectives, others wait "
                   "1.20 s",
               .needs = kTableNames<NcclPerfTable>,
               .makes = kTableNames<NcclBandwidthTable>,
               .uses = kTableNames<JobTable, ProcessIdentityTable, RankTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::host_bandwidth
