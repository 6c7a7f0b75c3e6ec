#include "model/accel/dialect.h"

#include <array>

namespace debrief::accel {
namespace {

bool Has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// "Compute of x", where nothing behind it speaks of a fused node. The last "Compute of " decides:
// what stands behind it stands behind all of them.
bool IsConvertName(std::string_view name) {
  const size_t at = name.rfind("Compute of ");
  return at != std::string_view::npos && !Has(name.substr(at), "SenFusedDeviceNode");
}

uint32_t TransferBits(std::string_view name) {
  uint32_t bits = 0;
  const bool old_in = Has(name, "emcpy (HtoD)");
  const bool old_out = Has(name, "emcpy (DtoH)");
  if (old_in) bits |= kNameOldMemcpyIn;
  if (old_out) bits |= kNameOldMemcpyOut;
  if (old_in || Has(name, "emcpy HtoD")) bits |= kNameMemcpyIn;
  if (old_out || Has(name, "emcpy DtoH")) bits |= kNameMemcpyOut;
  return bits;
}

uint32_t PlainBits(std::string_view name) {
  struct Word {
    std::string_view text;
    uint32_t bit;
  };
  static constexpr std::array kContained{Word{" DmaI", kNameDmaIn},
                                         Word{" DmaO", kNameDmaOut},
                                         Word{"Barrier:", kNameBarrier},
                                         Word{"barrier:", kNameBarrier},
                                         Word{"Cmpt Exec", kNameExec},
                                         Word{" Prep", kNamePrep},
                                         Word{"AIU Roundtrip", kNameRoundtrip},
                                         Word{"AllReduce", kNameAllReduce},
                                         Word{"SenRdma", kNameSenRdma},
                                         Word{"HCOLL", kNameHcoll},
                                         Word{"Rdma", kNameRdma}};
  static constexpr std::array kWhole{Word{"PrepareAndSyncRdma", kNameRdmaPrepSync},
                                     Word{"Flex RoundTrip", kNameSuperNode},
                                     Word{"AIU Roundtrip", kNameIsRoundtrip},
                                     Word{"aiuDataConvert", kNameTorchConvert},
                                     Word{"aiuPrepareAndSyncRdma", kNameTorchRdmaSync},
                                     Word{"aiuSuperNodeExecution", kNameTorchSuperNode},
                                     Word{"aiuLaunchSuperNode", kNameTorchSuperNode}};
  uint32_t bits = 0;
  for (const Word& word : kContained) {
    if (Has(name, word.text)) bits |= word.bit;
  }
  for (const Word& word : kWhole) {
    if (name == word.text) bits |= word.bit;
  }
  return bits;
}

bool NameIs(const EventLook& event, uint32_t flex, uint32_t torch) {
  return (event.name & (event.dialect == Dialect::kFlex ? flex : torch)) != 0;
}

constexpr std::array kPhaseWords{std::string_view(" DmaI"), std::string_view(" Cmpt Prep"),
                                 std::string_view(" Cmpt Exec"), std::string_view(" DmaO")};

}  // namespace

uint32_t NameBits(std::string_view name) {
  uint32_t bits = PlainBits(name) | TransferBits(name);
  if (name.ends_with("Cmpt Exec")) bits |= kNameExecLast;
  if (name.ends_with("Cmpt Prep")) bits |= kNamePrepLast;
  if (IsConvertName(name)) bits |= kNameDataConvert;
  return bits;
}

uint32_t CatBits(std::string_view cat) {
  uint32_t bits = 0;
  if (Has(cat, "gpu") || Has(cat, "kernel")) bits |= kCatDevice;
  if (Has(cat, "kernel")) bits |= kCatKernel;
  if (cat == "kernel") bits |= kCatIsKernel;
  if (cat == "cuda_runtime") bits |= kCatIsRuntime;
  if (cat == "gpu_memcpy") bits |= kCatIsMemcpy;
  return bits;
}

bool IsDeviceEvent(const EventLook& event) {
  return event.dialect == Dialect::kFlex ? event.has_stamps : (event.cat & kCatDevice) != 0;
}

bool IsKernel(const EventLook& event) {
  return event.dialect == Dialect::kFlex ? (event.name & kNameExecLast) != 0
                                         : (event.cat & kCatKernel) != 0;
}

bool IsComputePrep(const EventLook& event) { return (event.name & kNamePrepLast) != 0; }

bool IsDataConvert(const EventLook& event) {
  return NameIs(event, kNameDataConvert, kNameTorchConvert);
}

bool IsRdmaPrepSync(const EventLook& event) {
  return NameIs(event, kNameRdmaPrepSync, kNameTorchRdmaSync);
}

bool IsBarrier(const EventLook& event) { return (event.name & kNameBarrier) != 0; }

bool IsSuperNode(const EventLook& event) {
  return NameIs(event, kNameSuperNode, kNameTorchSuperNode);
}

bool IsCollective(const EventLook& event) {
  return event.dialect == Dialect::kFlex ? event.has_collective : (event.name & kNameHcoll) != 0;
}

bool IsHostToDevice(const EventLook& event, bool compat) {
  return NameIs(event, kNameDmaIn, compat ? kNameOldMemcpyIn : kNameMemcpyIn);
}

bool IsDeviceToHost(const EventLook& event, bool compat) {
  return NameIs(event, kNameDmaOut, compat ? kNameOldMemcpyOut : kNameMemcpyOut);
}

Phase PhaseBySuffix(std::string_view name) {
  for (size_t phase = 0; phase < kPhaseWords.size(); ++phase) {
    if (name.ends_with(kPhaseWords[phase].substr(1))) return static_cast<Phase>(phase);
  }
  return Phase::kNone;
}

Phase PhaseByWord(std::string_view name) {
  for (size_t phase = 0; phase < kPhaseWords.size(); ++phase) {
    if (Has(name, kPhaseWords[phase])) return static_cast<Phase>(phase);
  }
  return Phase::kNone;
}

std::span<const RuntimePhase> RuntimePhases() {
  static constexpr std::array kPhases{
      RuntimePhase{"graph_init", "", "aiuInitGraph"},
      RuntimePhase{"graph_exec", "Execute Graph", "aiuGraphExecution"},
      RuntimePhase{"malloc", "FixupAllocations", "aiuMalloc"},
      RuntimePhase{"resize_tensor_alloc", "AllocateFrame of graph", "aiuResizeTensorAllocation"},
      RuntimePhase{"node_compute", "Compute of $NodeName", "aiuNodeCompute"},
      RuntimePhase{"data_convert", "", "aiuDataConvert"},
      RuntimePhase{"scheduler_init", "SchedulerConstruct", "aiuInitScheduler"},
      RuntimePhase{"virtaddr_create", "CreatePipoIovas", "aiuCreateVirtualAddresses"},
      RuntimePhase{"launch_schedule_compute", "ScheduleCompute", "aiuLaunchScheduleCompute"},
      RuntimePhase{"schedule_wait", "WaitForCompletionAndReturnStatus", "aiuScheduleWait"},
      RuntimePhase{"dma_prep", "PrepareDmas", "aiuPrepareDMAs"},
      RuntimePhase{"cache_clear", "LaunchClearScratchpad", "aiuClearCache"},
      RuntimePhase{"cache_preload", "LaunchPreloadScratchpad", "aiuPreloadCache"},
      RuntimePhase{"launch_compute_stream", "LaunchComputeStream", "aiuLaunchComputeStream"},
      RuntimePhase{"launch_cb", "", "aiuLaunchControlBlocks"},
      RuntimePhase{"supernode_exec", "Flex RoundTrip", "aiuSuperNodeExecution"},
      RuntimePhase{"supernode_launch", "", "aiuLaunchSuperNode"},
      RuntimePhase{"rdma_prep_sync", "PrepareAndSyncRdma", "aiuPrepareAndSyncRdma"},
      RuntimePhase{"rdma_barrier1", "Barrier1", "aiuRdmaBarrier1"},
      RuntimePhase{"rdma_barrier2", "Barrier2", "aiuRdmaBarrier2"},
      RuntimePhase{"rdma_barrier3", "Barrier3", "aiuRdmaBarrier3"},
      RuntimePhase{"rdma_post_keys", "PostKeys", "aiuPostRdmaKeys"},
      RuntimePhase{"rdma_fetch_keys", "FetchKeys", "aiuFetchRdmaKeys"},
      RuntimePhase{"rdma_update_cb", "Update CBs", "aiuUpdateRdmaCBs"},
      RuntimePhase{"rdma_check_deadlock", "Deadlock Check", "aiuCheckRdmaDeadlock"},
      RuntimePhase{"filetransfer_DtoF", "DtoF", "aiuFileTransferDtoF"},
      RuntimePhase{"filetransfer_MtoF", "", "aiuFileTransferMtoF"},
      RuntimePhase{"filetransfer_FtoD", "", "aiuFileTransferFtoD"},
      RuntimePhase{"filetransfer_FtoM", "", "aiuFileTransferFtoM"},
      RuntimePhase{"clock_calibration", "", "aiuClockCalibration"},
      RuntimePhase{"compile_graph", "", "aiuCompileGraph"}};
  return kPhases;
}

}  // namespace debrief::accel
