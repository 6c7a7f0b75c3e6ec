// Which ranks communicate over another transport than their peers, and which settings of NCCL
// differ between ranks, as NCCL_DEBUG=INFO prints it?
//
// One slow connection slows the ring of everybody. What all ranks have in common is the cluster's
// choice and no finding; what a few have for themselves is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/host/gpu_ranks.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "tables/nccl_link.h"
#include "tables/nccl_setting.h"

namespace debrief::analyses::host_links {

namespace {

// The connections of one rank.
struct Connections {
  std::map<std::string_view, int64_t> networks;  // channels by network
  int64_t net = 0, direct = 0;                   // channels over a network, with GDRDMA
  int64_t peer = 0, shared = 0;                  // inside of a node: P2P, SHM
  std::vector<int64_t> rows;                     // of nccl_link

  std::string_view Network() const {
    const auto most =
        std::max_element(networks.begin(), networks.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == networks.end() ? std::string_view() : most->first;
  }
};
using Ranks = std::map<int32_t, Connections>;

std::map<host::Attempt, Ranks> CollectConnections(const Model& model) {
  const auto& links = model.tables.Get<NcclLinkTable>();
  std::map<host::Attempt, Ranks> jobs;
  for (size_t i = 0; i < links.size(); ++i) {
    if (links.rank[i] == kNone32 || links.job[i] == kNone32) continue;
    Connections& rank = jobs[{links.job[i], links.attempt[i]}][links.rank[i]];
    const std::string_view transport = model.pools.Text(links.transport[i]);
    rank.rows.push_back(static_cast<int64_t>(i));
    if (transport.starts_with("NET/")) {
      rank.networks[transport] += links.channels[i];
      rank.net += links.channels[i];
      rank.direct += links.gdr[i] != 0 ? links.channels[i] : 0;
    }
    if (transport == "P2P") rank.peer += links.channels[i];
    if (transport == "SHM") rank.shared += links.channels[i];
  }
  return jobs;
}

std::string_view NetworkInWords(std::string_view network) {
  if (network == "NET/Socket") return "sockets";
  return network == "NET/IB" ? "InfiniBand or RoCE" : network.substr(4);
}

// At most a third of the ranks, so that the others are the rule.
bool IsFew(const std::vector<int32_t>& few, size_t all) {
  return !few.empty() && few.size() * 3 <= all;
}

class LinkJudging {
 public:
  LinkJudging(const Model& model, host::Attempt attempt, const Ranks& ranks,
              std::vector<Finding>& findings)
      : model_(model), attempt_(attempt), ranks_(ranks), findings_(findings) {}

  void Judge() {
    FindOtherNetwork();
    FindIndirect();
    FindShared();
  }

 private:
  void Report(std::string_view rule, const std::vector<int32_t>& few, std::string_view transport,
              const std::string& does, std::string_view next_step) {
    Finding finding;
    finding.rule = rule;
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    std::tie(finding.job, finding.attempt) = attempt_;
    finding.ranks = few;
    finding.headline = fmt::format("{} {}", RanksAsSubject(few), does);
    const auto& links = model_.tables.Get<NcclLinkTable>();
    for (int64_t row : ranks_.at(few.front()).rows) {
      const auto at = static_cast<size_t>(row);
      if (!model_.pools.Text(links.transport[at]).starts_with(transport)) continue;
      finding.evidence.push_back(
          {fmt::format("NCCL INFO, line {}: {} -> {} via {}", links.line[at], links.from_rank[at],
                       links.to_rank[at], model_.pools.Text(links.via[at])),
           "nccl_link",
           {row}});
      break;
    }
    finding.confidence = 0.7;
    finding.why = "NCCL prints how it connected; one slow connection slows the whole ring";
    finding.next_step = next_step;
    findings_.push_back(std::move(finding));
  }

  void FindOtherNetwork() {
    std::map<std::string_view, std::vector<int32_t>> by_network;
    size_t all = 0;
    for (const auto& [rank, connections] : ranks_) {
      if (connections.net == 0) continue;
      by_network[connections.Network()].push_back(rank);
      ++all;
    }
    const auto rule = std::max_element(
        by_network.begin(), by_network.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [network, ranks] : by_network) {
      // Who has more than sockets where the others have none is not the slow one.
      const bool slower = network == "NET/Socket" || rule->first != "NET/Socket";
      if (network == rule->first || !IsFew(ranks, all) || !slower) continue;
      Report("host_links.transport", ranks, network,
             fmt::format("{} over {}, the others over {}",
                         ranks.size() == 1 ? "communicates" : "communicate",
                         NetworkInWords(network), NetworkInWords(rule->first)),
             "Check the network cards of that host (ibstat, NCCL_IB_HCA, NCCL_IB_DISABLE) and what "
             "NCCL printed about NET/IB there.");
    }
  }

  void FindIndirect() {
    std::vector<int32_t> few;
    size_t all = 0, direct = 0;
    for (const auto& [rank, connections] : ranks_) {
      if (connections.net == 0 || connections.Network() == "NET/Socket") continue;
      ++all;
      direct += connections.direct > 0 ? 1 : 0;
      if (connections.direct == 0) few.push_back(rank);
    }
    if (direct == 0 || !IsFew(few, all)) return;
    Report("host_links.no_gdr", few, "NET/",
           fmt::format("{} the network card without GPUDirect RDMA, the others with it",
                       few.size() == 1 ? "uses" : "use"),
           "Load nvidia-peermem on that host, and check that GPU and card share a PCIe switch "
           "(nvidia-smi topo -m).");
  }

  void FindShared() {
    std::vector<int32_t> few;
    size_t all = 0, with_peer = 0;
    for (const auto& [rank, connections] : ranks_) {
      if (connections.peer + connections.shared == 0) continue;
      ++all;
      with_peer += connections.peer > 0 ? 1 : 0;
      if (connections.peer == 0) few.push_back(rank);
    }
    if (with_peer == 0 || !IsFew(few, all)) return;
    Report("host_links.shared_memory", few, "SHM",
           fmt::format("{} over host memory (SHM), the others from GPU to GPU (P2P)",
                       few.size() == 1 ? "communicates" : "communicate"),
           "Check P2P of that GPU: nvidia-smi topo -p2p r, NCCL_P2P_DISABLE, IOMMU settings.");
  }

  const Model& model_;
  host::Attempt attempt_;
  const Ranks& ranks_;
  std::vector<Finding>& findings_;
};

// Names and places differ from host to host in every job.
bool MayDiffer(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOwn = {"HOSTID", "_FILE", "IFNAME", "IB_HCA",
                                                    "TOPO",   "DIR",   "RANK",   "network"};
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](std::string_view part) { return Contains(name, part); });
}

struct Setting {
  std::map<std::string_view, std::set<int32_t>> ranks;  // by value
  std::vector<int64_t> rows;
};

void ReportSetting(host::Attempt attempt, std::string_view name, const Setting& setting,
                   std::vector<Finding>& findings) {
  const auto usual = std::max_element(
      setting.ranks.begin(), setting.ranks.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const auto other = std::find_if(setting.ranks.begin(), setting.ranks.end(),
                                  [&](const auto& each) { return each.first != usual->first; });
  const std::vector<int32_t> few(other->second.begin(), other->second.end());
  Finding finding;
  finding.rule = "host_links.setting";
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  std::tie(finding.job, finding.attempt) = attempt;
  finding.ranks = few;
  finding.headline = fmt::format("{} is {} on {}, {} on the others", name, other->first,
                                 RanksInWords(few), usual->first);
  finding.evidence.push_back({"NCCL INFO: set by environment", "nccl_setting", setting.rows});
  finding.confidence = 0.9;
  finding.why = "as NCCL prints it";
  finding.next_step = "Start all ranks with the same environment.";
  findings.push_back(std::move(finding));
}

void FindSettings(const Model& model, std::vector<Finding>& findings) {
  const auto& table = model.tables.Get<NcclSettingTable>();
  std::map<std::pair<host::Attempt, std::string_view>, Setting> settings;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.rank[i] == kNone32 || table.job[i] == kNone32) continue;
    const std::string_view name = model.pools.Text(table.name[i]);
    if (MayDiffer(name)) continue;
    Setting& setting = settings[{host::Attempt(table.job[i], table.attempt[i]), name}];
    const bool is_new =
        setting.ranks[model.pools.Text(table.value[i])].insert(table.rank[i]).second;
    constexpr size_t kMostRows = 16;
    if (is_new && setting.rows.size() < kMostRows) setting.rows.push_back(static_cast<int64_t>(i));
  }
  for (const auto& [key, setting] : settings) {
    if (setting.ranks.size() > 1) ReportSetting(key.first, key.second, setting, findings);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [attempt, ranks] : CollectConnections(model))
    LinkJudging(model, attempt, ranks, result.findings).Judge();
  FindSettings(model, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "host_links",
               .sentence = "Which ranks communicate over another transport than their peers?",
               .example = "Rank 5 communicates over sockets, the others over InfiniBand or RoCE",
               .needs = kTableNames<NcclSettingTable>,
               .makes = {},
               .uses = kTableNames<NcclLinkTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::host_links
