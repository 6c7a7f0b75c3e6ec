#include "analyses/profile/comms/wires.h"

#include <algorithm>
#include <array>

#include "tables/nccl_link.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"

namespace debrief::analyses::profile_comms {

namespace {

// The slower, the earlier; NVLS and others that are not named are as fast as P2P.
constexpr std::array<std::string_view, 4> kSlowFirst = {"NET/Socket", "NET/IB", "NET/", "SHM"};

}  // namespace

Wires::Wires(const Model& model) : model_(model) {
  const auto told = profile::ToldPeaks(model).value_or(profile::Peaks());
  told_network_ = told.network;
  const auto& rows = model.tables.Get<RooflinePeakTable>();
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string_view kind = model.pools.Text(rows.kind[row]);
    if (kind == "link" || kind == "gpu") told_link_ = told.link;
  }
  AddLinks();
  AddDevices();
}

void Wires::AddLinks() {
  const auto& links = model_.tables.Get<NcclLinkTable>();
  for (size_t row = 0; row < links.size(); ++row) {
    if (links.rank[row] == kNone32) continue;
    jobs_[{links.job[row], links.attempt[row]}]
        .transports[{links.rank[row], links.comm_size[row]}]
        .insert(model_.pools.Text(links.transport[row]));
  }
}

void Wires::AddDevices() {
  const auto& timelines = model_.tables.Get<TimelineTable>();
  const auto& devices = model_.tables.Get<TimelineDeviceTable>();
  size_t device = 0;  // rows of an input stand together, in order of input
  for (size_t row = 0; row < timelines.size(); ++row) {
    Job& job = jobs_[{timelines.job[row], timelines.attempt[row]}];
    job.world_size = std::max(job.world_size, timelines.world_size[row]);
    while (device < devices.size() && devices.input[device] < timelines.input[row]) ++device;
    int32_t here = 0;
    for (; device < devices.size() && devices.input[device] == timelines.input[row]; ++device) {
      ++here;
      const auto peaks = profile::PeaksOf(model_, device);
      const double link = peaks ? peaks->link : 0;
      if (here == 1 && link > 0)
        job.link_gbps = job.link_gbps > 0 ? std::min(job.link_gbps, link) : link;
    }
    // A process that sees one device alone does not tell how many its node has.
    if (here > 1) job.devices = job.devices == 0 ? here : std::min(job.devices, here);
  }
}

std::string_view Wires::TransportOf(const Job& job, const Kind& kind) const {
  std::set<std::string_view> seen;
  for (int64_t rank : model_.pools.lists.Get(kind.members)) {
    const auto found = job.transports.find({static_cast<int32_t>(rank), kind.group_size});
    if (found != job.transports.end()) seen.insert(found->second.begin(), found->second.end());
  }
  for (std::string_view slow : kSlowFirst) {
    for (std::string_view transport : seen) {
      if (transport.starts_with(slow)) return transport;
    }
  }
  return seen.empty() ? std::string_view() : *seen.begin();
}

bool Wires::ShareNode(const Job& job, const Kind& kind) const {
  const auto members = model_.pools.lists.Get(kind.members);
  if (job.devices == 0 || members.empty()) return false;
  const int64_t node = *members.begin() / job.devices;
  return std::ranges::all_of(members, [&](int64_t rank) { return rank / job.devices == node; });
}

Wire Wires::Of(const Kind& kind) const {
  const auto found = jobs_.find({kind.job, kind.attempt});
  if (found == jobs_.end()) return {};
  const Job& job = found->second;
  Wire wire{.transport = TransportOf(job, kind)};
  if (wire.transport.empty() && ShareNode(job, kind)) wire.transport = "node";
  const bool is_network = wire.transport.starts_with("NET/");
  // Memory of the host carries what the host does: no figure of the device.
  if (wire.transport.empty() || wire.transport == "SHM") return wire;
  const double told = is_network ? told_network_ : told_link_;
  wire.gbps = told > 0 ? told : is_network ? 0 : job.link_gbps;
  if (wire.gbps > 0) wire.from = told > 0 ? "--peak" : "device";
  return wire;
}

}  // namespace debrief::analyses::profile_comms
