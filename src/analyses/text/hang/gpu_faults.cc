// What the driver says of GPUs: NVRM: Xid (PCI:0000:4b:00): 79, pid=4711, name=python, GPU has
// fallen off the bus. Codes that follow from another fault, or only announce something, are left
// out; so is everything in a job that shows no other sign of a bad end, since a kernel's log is
// older than the job.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

namespace {

struct Fault {
  int64_t code;
  std::string_view words;
  bool hardware;
};

constexpr Fault kFaults[] = {{13, "graphics engine exception", false},
                             {31, "illegal memory access (MMU fault)", false},
                             {48, "double-bit ECC error", true},
                             {61, "GPU firmware halt", true},
                             {62, "GPU firmware halt", true},
                             {64, "row remapping failed", true},
                             {74, "NVLink error", true},
                             {79, "GPU has fallen off the bus", true},
                             {94, "contained memory error", true},
                             {95, "uncontained memory error", true},
                             {137, "NVLink error", true},
                             {144, "NVLink error", true},
                             {145, "NVLink error", true},
                             {146, "NVLink error", true},
                             {147, "NVLink error", true},
                             {148, "NVLink error", true},
                             {149, "NVLink error", true},
                             {150, "NVLink error", true},
                             {155, "NVLink error", true},
                             {158, "GPU fatal timeout", true},
                             {167, "PCIe fatal timeout", true},
                             {109, "context switch timeout", true},
                             {110, "security fault", true},
                             {119, "GPU firmware (GSP) timeout", true},
                             {120, "GPU firmware (GSP) error", true},
                             {140, "ECC error", true},
                             {171, "uncorrectable DRAM error", true},
                             {172, "uncorrectable SRAM error", true}};

const Fault* FaultOf(std::string_view text) {
  size_t close = text.find("): ");
  int64_t code = close == std::string_view::npos ? kNone64 : NumberAfter(text.substr(close), "): ");
  const auto* fault = std::find_if(std::begin(kFaults), std::end(kFaults),
                                   [&](const Fault& each) { return each.code == code; });
  bool follows = Contains(text, "caused by previous Xid");
  return fault == std::end(kFaults) || follows ? nullptr : fault;
}

// "PCI:0000:4b:00" as NCCL prints an address, function included: 4b000.
std::string BusOf(std::string_view text) {
  size_t open = text.find("(PCI:");
  if (open == std::string_view::npos) return {};
  std::string bus;
  for (char c : text.substr(open + 5)) {
    bool hex = IsDigit(c) || (c >= 'a' && c <= 'f');
    if (!hex && c != ':') break;
    if (hex && !(bus.empty() && c == '0')) bus += c;
  }
  return bus + "0";
}

int32_t RankOfFault(const Talk& talk, std::string_view text) {
  auto pid = talk.rank_of_pid.find(NumberAfter(text, "pid="));
  if (pid != talk.rank_of_pid.end()) return pid->second;
  auto bus = talk.rank_of_bus.find(BusOf(text));
  return bus == talk.rank_of_bus.end() ? kNone32 : bus->second;
}

// "0000:4b:00" of "(PCI:0000:4b:00)".
std::string_view AddressOf(std::string_view text) {
  size_t open = text.find("(PCI:");
  std::string_view rest = open == std::string_view::npos ? "" : text.substr(open + 5);
  return rest.substr(0, rest.find_first_of(") "));
}

}  // namespace

bool FindNamelessGpuFault(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.talk.EndedBadly()) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.kernel) {
    std::string_view text = scene.model.pools.Text(events.text[row]);
    const Fault* fault = FaultOf(text);
    if (fault == nullptr || !fault->hardware) continue;
    Finding finding = NewFinding(scene, "text_hang.ended");
    finding.headline = fmt::format("A GPU failed: {} (Xid {}) at PCI address {}", fault->words,
                                   fault->code, AddressOf(text));
    finding.evidence.push_back(LineAsEvidence(scene, row));
    finding.confidence = 0.6;
    finding.why = "the driver's message in the kernel log says so; no text tells whose GPU it is";
    finding.next_step =
        "Take this GPU out of use and have it checked. NCCL_DEBUG=INFO prints which rank has which "
        "address.";
    findings.push_back(std::move(finding));
    return true;
  }
  return false;
}

void FindGpuFault(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.talk.EndedBadly()) return;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.kernel) {
    std::string_view text = scene.model.pools.Text(events.text[row]);
    const Fault* fault = FaultOf(text);
    int32_t rank = fault == nullptr ? kNone32 : RankOfFault(scene.talk, text);
    if (rank == kNone32 || !scene.talk.ranks.contains(rank)) continue;
    const RankTalk& talk = scene.talk.ranks.at(rank);
    // A fault of the program is told better by its own traceback.
    if (!fault->hardware && !talk.troubles.empty()) continue;
    Finding finding = NewFinding(scene, "text_hang.gpu_fault");
    finding.ranks = {rank};
    finding.headline =
        fmt::format("The GPU of rank {} failed: {} (Xid {})", rank, fault->words, fault->code);
    finding.evidence.push_back(LineAsEvidence(scene, row));
    for (size_t trouble : talk.troubles) {
      if (finding.evidence.size() < 3) finding.evidence.push_back(LineAsEvidence(scene, trouble));
    }
    finding.confidence = 0.9;
    finding.why = "the driver's message in the kernel log says so";
    finding.next_step = fault->hardware ? "Take this GPU out of use and have it checked."
                                        : "Run this rank with CUDA_LAUNCH_BLOCKING=1 to find the "
                                          "kernel that accesses memory it must not.";
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace debrief::analyses::text_hang
