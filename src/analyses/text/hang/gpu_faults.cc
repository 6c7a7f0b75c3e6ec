// What the driver says of GPUs: NVRM: Xid (PCI:0000:4b:00): 79, pid=4711, name=python, GPU has
// fallen off the bus. Codes that follow from another fault, or only announce something, are left
// out; so is everything in a job that shows no other sign of a bad end, since a kernel's log is
// older than the job.
#include "torch/gpu_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "tables/input.h"

namespace debrief::analyses::text_hang {

namespace {

// Null for lines whose code follows from another fault, or only announces something.
const GpuFault* FaultOf(std::string_view text) {
  // NVSwitches have numbers of their own; those that end jobs are marked so.
  static constexpr GpuFault kSwitchFault = {0, "NVSwitch error", true};
  if (Contains(text, "SXid (PCI")) {
    const bool fatal = Contains(text, ", Fatal") && !Contains(text, "Non-fatal");
    return fatal ? &kSwitchFault : nullptr;
  }
  size_t close = text.find("): ");
  int64_t code = close == std::string_view::npos ? kNone64 : NumberAfter(text.substr(close), "): ");
  return Contains(text, "caused by previous Xid") ? nullptr : GpuFaultOf(code);
}

// "Xid 79", "SXid 20034".
std::string CodeOfFault(std::string_view text) {
  const size_t close = text.find("): ");
  const int64_t code =
      close == std::string_view::npos ? kNone64 : NumberAfter(text.substr(close), "): ");
  return fmt::format("{} {}", Contains(text, "SXid (PCI") ? "SXid" : "Xid", code);
}

std::string BusOf(std::string_view text) {
  size_t open = text.find("(PCI:");
  return open == std::string_view::npos ? "" : BusIdOf(text.substr(open + 5));
}

// A log of the kernel lies in the folder of its host, or has its name in the file's:
// node07/dmesg.txt, dmesg-node07.txt; in syslog it stands before "kernel:".
int32_t RankOnHost(const Scene& scene, size_t row, std::string_view bus) {
  const auto& inputs = scene.model.tables.Get<InputTable>();
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string words(scene.model.pools.Text(events.text[row]));
  words = words.substr(0, words.find(" kernel:"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.input[i] == events.input[row])
      words += fmt::format(" {} ", scene.model.pools.Text(inputs.path[i]));
  }
  constexpr std::string_view kBetween = " /_.";
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find_first_of(kBetween, at), words.size());
    const std::string_view word = std::string_view(words).substr(at, end - at);
    for (const std::string_view host : {word, word.substr(word.find('-') + 1)}) {
      const auto rank = scene.talk.rank_of_bus.find(BusOnHost(host, bus));
      if (rank != scene.talk.rank_of_bus.end()) return rank->second;
    }
    at = end + 1;
  }
  return kNone32;
}

int32_t RankOfFault(const Scene& scene, size_t row, std::string_view text) {
  const Talk& talk = scene.talk;
  auto pid = talk.rank_of_pid.find(NumberAfter(text, "pid="));
  if (pid != talk.rank_of_pid.end()) return pid->second;
  const std::string address = BusOf(text);
  auto bus = talk.rank_of_bus.find(address);
  return bus != talk.rank_of_bus.end() ? bus->second : RankOnHost(scene, row, address);
}

// "0000:4b:00" of "(PCI:0000:4b:00)".
std::string_view AddressOf(std::string_view text) {
  size_t open = text.find("(PCI:");
  std::string_view rest = open == std::string_view::npos ? "" : text.substr(open + 5);
  return rest.substr(0, rest.find_first_of(") "));
}

}  // namespace

std::string BusOnHost(std::string_view host, std::string_view bus) {
  return fmt::format("{} {}", host, bus);
}

bool FindNamelessGpuFault(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.talk.EndedBadly()) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.kernel) {
    std::string_view text = scene.model.pools.Text(events.text[row]);
    const GpuFault* fault = FaultOf(text);
    if (fault == nullptr || !fault->hardware) continue;
    Finding finding = NewFinding(scene, "text_hang.ended");
    finding.headline =
        fmt::format("A {} failed: {} ({}) at PCI address {}", fault->code == 0 ? "switch" : "GPU",
                    fault->words, CodeOfFault(text), AddressOf(text));
    finding.evidence.push_back(LineAsEvidence(scene, row));
    finding.confidence = 0.6;
    finding.why = "the driver reports it in the kernel log; no text says which rank uses this GPU";
    finding.next_step =
        fault->code == 0
            ? "Have this NVSwitch and its links checked: nvidia-smi nvlink -s, the log of the "
              "fabric manager."
            : "Take this GPU out of use and have it checked. NCCL_DEBUG=INFO prints which rank has "
              "which address.";
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
    const GpuFault* fault = FaultOf(text);
    int32_t rank = fault == nullptr ? kNone32 : RankOfFault(scene, row, text);
    if (rank == kNone32 || !scene.talk.ranks.contains(rank)) continue;
    const RankTalk& talk = scene.talk.ranks.at(rank);
    // A fault of the program is told better by its own traceback.
    if (!fault->hardware && !talk.troubles.empty()) continue;
    Finding finding = NewFinding(scene, "text_hang.gpu_fault");
    finding.ranks = {rank};
    finding.headline =
        fmt::format("The GPU of rank {} failed: {} ({})", rank, fault->words, CodeOfFault(text));
    finding.evidence.push_back(LineAsEvidence(scene, row));
    for (size_t trouble : talk.troubles) {
      if (finding.evidence.size() < 3) finding.evidence.push_back(LineAsEvidence(scene, trouble));
    }
    finding.confidence = 0.9;
    finding.why = "the driver reports it in the kernel log";
    finding.next_step = fault->hardware ? "Take this GPU out of use and have it checked."
                                        : "Run this rank with CUDA_LAUNCH_BLOCKING=1 to find the "
                                          "kernel that accesses memory it must not.";
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace debrief::analyses::text_hang
