#include "analyses/host/gpu_ranks.h"

#include <algorithm>
#include <iterator>

#include "base/text/strings.h"
#include "tables/job.h"
#include "tables/process_identity.h"
#include "tables/rank.h"

namespace debrief::analyses::host {

namespace {

// Two ranks at one place say that the place tells no rank.
template <typename Map, typename Key>
void Learn(Map& map, Key key, int32_t rank) {
  auto [known, is_new] = map.try_emplace(std::move(key), rank);
  if (!is_new && known->second != rank) known->second = kNone32;
}

template <typename Map, typename Key>
int32_t Find(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? kNone32 : found->second;
}

}  // namespace

std::string_view ShortHost(std::string_view host) {
  const bool address =
      !host.empty() && host.find_first_not_of("0123456789.:") == std::string_view::npos;
  return address ? host : host.substr(0, host.find('.'));
}

GpuRanks::GpuRanks(const Model& model) {
  const auto& identities = model.tables.Get<ProcessIdentityTable>();
  for (size_t i = 0; i < identities.size(); ++i) {
    const int32_t rank = identities.rank[i];
    if (rank == kNone32 || identities.job[i] == kNone32) continue;
    Job& job = jobs_[{identities.job[i], identities.attempt[i]}];
    const std::string host(ShortHost(model.pools.Text(identities.host[i])));
    if (!host.empty()) {
      job.hosts.insert(host);
      job.ranks[host].insert(rank);
    }
    const std::string bus(model.pools.Text(identities.bus_id[i]));
    if (!bus.empty()) Learn(job.by_bus, std::pair(host, bus), rank);
    if (identities.gpu[i] != kNone32) Learn(job.by_gpu, std::pair(host, identities.gpu[i]), rank);
    if (identities.pid[i] != kNone64) Learn(job.by_pid, std::pair(host, identities.pid[i]), rank);
  }
  const auto& jobs = model.tables.Get<JobTable>();
  for (size_t i = 0; i < jobs.size(); ++i) sizes_[jobs.job[i]] = jobs.world_size[i];
  const auto& ranks = model.tables.Get<RankTable>();
  for (size_t i = 0; i < ranks.size(); ++i) {
    Job& job = jobs_[{ranks.job[i], ranks.attempt[i]}];
    const std::string host(ShortHost(model.pools.Text(ranks.host[i])));
    if (!host.empty()) job.hosts.insert(host);
    bool placed = false;
    for (const auto& [known, there] : job.ranks) placed |= there.contains(ranks.rank[i]);
    if (!placed || !host.empty()) job.ranks[host].insert(ranks.rank[i]);
  }
}

int32_t GpuRanks::WorldSizeOf(int32_t job) const {
  const auto size = sizes_.find(job);
  return size == sizes_.end() ? kNone32 : size->second;
}

void GpuRanks::AddSeen(Attempt attempt, std::string_view host, int32_t gpu) {
  if (gpu != kNone32) jobs_[attempt].seen[std::string(ShortHost(host))].insert(gpu);
}

const std::set<std::string>& GpuRanks::HostsOf(Attempt attempt) const {
  static const std::set<std::string> kNoHosts;
  const auto job = jobs_.find(attempt);
  return job == jobs_.end() ? kNoHosts : job->second.hosts;
}

bool GpuRanks::IsElsewhere(Attempt attempt, std::string_view host) const {
  const auto found = jobs_.find(attempt);
  if (found == jobs_.end()) return false;
  const Job& job = found->second;
  if (job.hosts.contains(std::string(ShortHost(host)))) return false;
  size_t placed = 0;
  for (const auto& [where, ranks] : job.ranks) {
    if (where.empty() && !ranks.empty()) return false;
    placed += ranks.size();
  }
  const int32_t world = WorldSizeOf(attempt.first);
  if (world != kNone32 && placed < static_cast<size_t>(world)) return false;
  return std::ranges::any_of(job.seen,
                             [&](const auto& seen) { return job.hosts.contains(seen.first); });
}

std::string GpuRanks::KnownHost(const Job& job, std::string_view host) {
  std::string known(ShortHost(host));
  if (job.hosts.contains(known)) return known;
  const bool one_host = job.hosts.size() <= 1 && job.seen.size() <= 1;
  if (one_host) return job.hosts.empty() ? "" : *job.hosts.begin();
  return "?";  // no host of the job
}

// The first rank of a host has its first GPU, unless something said otherwise.
int32_t GpuRanks::RankByOrder(const Job& job, int32_t world, const std::string& host,
                              std::string_view seen_as, int32_t gpu) {
  const auto ranks = job.ranks.find(host);
  const auto gpus = job.seen.find(std::string(ShortHost(seen_as)));
  if (gpus == job.seen.end()) return kNone32;
  // All ranks ran on this host, whether they left something or not.
  const bool is_all = job.hosts.size() <= 1 && job.seen.size() == 1 && world != kNone32 &&
                      gpus->second.size() == static_cast<size_t>(world) &&
                      *gpus->second.rbegin() == world - 1;
  if (is_all) return gpu;
  if (ranks == job.ranks.end()) return kNone32;
  const bool as_many = ranks->second.size() == gpus->second.size() && gpus->second.contains(gpu);
  if (!as_many) return kNone32;
  const auto position = std::distance(gpus->second.begin(), gpus->second.find(gpu));
  return *std::next(ranks->second.begin(), position);
}

int32_t GpuRanks::RankOf(Attempt attempt, std::string_view host, int32_t gpu,
                         std::string_view bus_id) const {
  const auto found = jobs_.find(attempt);
  if (found == jobs_.end()) return kNone32;
  const Job& job = found->second;
  const std::string known = KnownHost(job, host);
  if (!bus_id.empty()) {
    const auto bus = job.by_bus.find({known, std::string(bus_id)});
    if (bus != job.by_bus.end()) return bus->second;
  }
  if (gpu == kNone32) return kNone32;
  // Where every process sees one GPU alone, each calls it 0.
  const auto number = job.by_gpu.find({known, gpu});
  if (number != job.by_gpu.end() && number->second != kNone32) return number->second;
  return RankByOrder(job, WorldSizeOf(attempt.first), known, host, gpu);
}

int32_t GpuRanks::RankOfProcess(Attempt attempt, std::string_view host, int64_t pid) const {
  const auto job = jobs_.find(attempt);
  if (job == jobs_.end() || pid == kNone64) return kNone32;
  const int32_t there = Find(job->second.by_pid, std::pair(std::string(ShortHost(host)), pid));
  return there;
}

}  // namespace debrief::analyses::host
