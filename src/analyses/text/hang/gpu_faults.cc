// What drivers say of GPUs and network cards: NVRM: Xid (PCI:0000:4b:00): 79, pid=4711,
// name=python, GPU has fallen off the bus. Codes that follow from another fault, or only announce
// something, are left out; so is everything in a job that shows no other sign of a bad end, since a
// kernel's log is older than the job. Of a kernel's log alone a fault of the hardware is told.
#include "torch/gpu_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "tables/input.h"
#include "torch/driver_faults.h"

namespace debrief::analyses::text_hang {

namespace {

struct Fault {
  std::string_view device = "GPU";
  std::string words;  // "GPU has fallen off the bus (Xid 79)"
  std::string_view address;
  std::string bus;        // the address as NCCL prints it
  bool hardware = false;  // not the program's doing
  std::string_view next;
};

constexpr std::string_view kCheckGpu = "Take this GPU out of use and have it checked.";
constexpr std::string_view kCheckSwitch =
    "Have this NVSwitch and its links checked: nvidia-smi nvlink -s, the log of the fabric "
    "manager.";
constexpr std::string_view kCheckCard =
    "Look at this network card, its cable and its switch (ibstat, mlxlink, dmesg), and keep the "
    "node out of jobs until it is checked.";
constexpr std::string_view kCheckHost =
    "Leave that node out of jobs (sbatch --exclude, kubectl cordon) and have its hardware and the "
    "rest of its kernel log checked.";
constexpr std::string_view kFindKernel =
    "Run this rank with CUDA_LAUNCH_BLOCKING=1 (ROCm: AMD_SERIALIZE_KERNEL=3) to find the kernel "
    "that accesses memory it must not.";

// "0000:4b:00" of "(PCI:0000:4b:00)".
std::string_view AddressOf(std::string_view text) {
  size_t open = text.find("(PCI:");
  std::string_view rest = open == std::string_view::npos ? "" : text.substr(open + 5);
  return rest.substr(0, rest.find_first_of(") "));
}

// None for lines whose code follows from another fault, or only announces something.
std::optional<Fault> FaultOfXid(std::string_view text) {
  const std::string_view address = AddressOf(text);
  const size_t close = text.find("): ");
  const int64_t code =
      close == std::string_view::npos ? kNone64 : NumberAfter(text.substr(close), "): ");
  // NVSwitches have numbers of their own; those that end jobs are marked so.
  if (Contains(text, "SXid (PCI")) {
    if (!Contains(text, ", Fatal") || Contains(text, "Non-fatal")) return std::nullopt;
    return Fault{"switch", fmt::format("NVSwitch error (SXid {})", code),
                 address,  BusIdOf(address),
                 true,     kCheckSwitch};
  }
  const GpuFault* fault = Contains(text, "caused by previous Xid") ? nullptr : GpuFaultOf(code);
  if (fault == nullptr) return std::nullopt;
  return Fault{"GPU",           fmt::format("{} (Xid {})", fault->words, code),
               address,         BusIdOf(address),
               fault->hardware, fault->hardware ? kCheckGpu : kFindKernel};
}

std::optional<Fault> FaultOf(std::string_view text) {
  const auto driver = DriverFaultOf(text);
  if (!driver) return FaultOfXid(text);
  if (driver->words.empty()) return std::nullopt;
  const bool gpu = driver->device == "GPU";
  Fault fault{.device = driver->device,
              .words = fmt::format("{} ({})", driver->words, driver->driver),
              .address = driver->address,
              .bus = gpu ? BusIdOf(driver->address) : "",
              .hardware = driver->hardware,
              .next = driver->device == "network card" ? kCheckCard : kCheckHost};
  if (gpu) fault.next = driver->hardware ? kCheckGpu : kFindKernel;
  return fault;
}

// A link that came up again later.
bool WorksAgain(const Scene& scene, size_t row, const Fault& fault) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  return std::ranges::any_of(scene.talk.kernel, [&](size_t later) {
    const auto driver = DriverFaultOf(scene.model.pools.Text(events.text[later]));
    return events.input[later] == events.input[row] && events.line[later] > events.line[row] &&
           driver && driver->words.empty() && driver->address == fault.address;
  });
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

int32_t RankOfFault(const Scene& scene, size_t row, std::string_view text, const Fault& fault) {
  const Talk& talk = scene.talk;
  for (const std::string_view key : {"pid=", " pid "}) {
    auto pid = talk.rank_of_pid.find(NumberAfter(text, key));
    if (pid != talk.rank_of_pid.end()) return pid->second;
  }
  auto bus = talk.rank_of_bus.find(fault.bus);
  return bus != talk.rank_of_bus.end() ? bus->second : RankOnHost(scene, row, fault.bus);
}

// Nothing but the log of a kernel is here.
bool IsKernelAlone(const Talk& talk) {
  auto silent = [](const RankTalk& each) {
    return each.troubles.empty() && each.aftermaths.empty() && each.last_steps.empty() &&
           each.normal_ends.empty();
  };
  return talk.nameless.empty() && talk.scheduler.empty() && talk.ranks.empty() &&
         silent(talk.nobody);
}

}  // namespace

std::string BusOnHost(std::string_view host, std::string_view bus) {
  return fmt::format("{} {}", host, bus);
}

bool FindNamelessGpuFault(const Scene& scene, std::vector<Finding>& findings) {
  const bool alone = IsKernelAlone(scene.talk);
  if (!scene.talk.EndedBadly() && !alone) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.kernel) {
    const auto fault = FaultOf(scene.model.pools.Text(events.text[row]));
    if (!fault || (!fault->hardware && !alone) || WorksAgain(scene, row, *fault)) continue;
    Finding finding = NewFinding(scene, "text_hang.ended");
    finding.headline = fmt::format(
        "A {} failed: {}{}", fault->device, fault->words,
        fault->address.empty() ? "" : fmt::format(" at PCI address {}", fault->address));
    finding.evidence.push_back(LineAsEvidence(scene, row));
    finding.confidence = alone ? 0.5 : 0.6;
    finding.why = alone ? "the driver reports it in the kernel log; no output of a job is here"
                        : "the driver reports it in the kernel log; no text says which rank uses "
                          "this device";
    finding.next_step = fault->next;
    if (fault->next == kCheckGpu)
      finding.next_step += " NCCL_DEBUG=INFO prints which rank has which address.";
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
    const auto fault = FaultOf(text);
    int32_t rank = fault ? RankOfFault(scene, row, text, *fault) : kNone32;
    if (rank == kNone32 || !scene.talk.ranks.contains(rank)) continue;
    const RankTalk& talk = scene.talk.ranks.at(rank);
    // A fault of the program is told better by its own traceback.
    if (!fault->hardware && !talk.troubles.empty()) continue;
    Finding finding = NewFinding(scene, "text_hang.gpu_fault");
    finding.ranks = {rank};
    finding.headline =
        fmt::format("The {} of rank {} failed: {}", fault->device, rank, fault->words);
    finding.evidence.push_back(LineAsEvidence(scene, row));
    for (size_t trouble : talk.troubles) {
      if (finding.evidence.size() < 3) finding.evidence.push_back(LineAsEvidence(scene, trouble));
    }
    finding.confidence = 0.9;
    finding.why = "the driver reports it in the kernel log";
    finding.next_step = fault->next;
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace debrief::analyses::text_hang
