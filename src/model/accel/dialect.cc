#include "model/accel/dialect.h"

#include <array>

#include "base/text/strings.h"

namespace debrief::accel {
namespace {

// "Compute of x", where nothing behind it speaks of a fused node. The last "Compute of " decides:
// what stands behind it stands behind all of them.
bool IsConvertName(std::string_view name) {
  const size_t at = name.rfind("Compute of ");
  return at != std::string_view::npos && !Contains(name.substr(at), "SenFusedDeviceNode");
}

struct Word {
  std::string_view text;
  uint32_t bit;
};

constexpr std::array kContained{Word{"Barrier:", kNameBarrier}, Word{"barrier:", kNameBarrier},
                                Word{"AIU Roundtrip", kNameRoundtrip}, Word{"Rdma", kNameRdma}};
constexpr std::array kWhole{Word{"PrepareAndSyncRdma", kNameRdmaPrepSync},
                            Word{"Flex RoundTrip", kNameSuperNode},
                            Word{"aiuDataConvert", kNameTorchConvert},
                            Word{"aiuPrepareAndSyncRdma", kNameTorchRdmaSync},
                            Word{"aiuSuperNodeExecution", kNameTorchSuperNode},
                            Word{"aiuLaunchSuperNode", kNameTorchSuperNode}};

bool HasBit(uint32_t bits, Dialect dialect, uint32_t flex, uint32_t torch) {
  return (bits & (dialect == Dialect::kFlex ? flex : torch)) != 0;
}

constexpr std::array kPhaseWords{std::string_view(" DmaI"), std::string_view(" Cmpt Prep"),
                                 std::string_view(" Cmpt Exec"), std::string_view(" DmaO")};

}  // namespace

uint32_t NameBits(std::string_view name) {
  uint32_t bits = 0;
  if (IsConvertName(name)) bits |= kNameDataConvert;
  for (const Word& word : kContained) {
    if (Contains(name, word.text)) bits |= word.bit;
  }
  for (const Word& word : kWhole) {
    if (name == word.text) bits |= word.bit;
  }
  return bits;
}

bool IsDataConvert(uint32_t name_bits, Dialect dialect) {
  return HasBit(name_bits, dialect, kNameDataConvert, kNameTorchConvert);
}

bool IsRdmaPrepSync(uint32_t name_bits, Dialect dialect) {
  return HasBit(name_bits, dialect, kNameRdmaPrepSync, kNameTorchRdmaSync);
}

bool IsSuperNode(uint32_t name_bits, Dialect dialect) {
  return HasBit(name_bits, dialect, kNameSuperNode, kNameTorchSuperNode);
}

Phase PhaseBySuffix(std::string_view name) {
  for (size_t phase = 0; phase < kPhaseWords.size(); ++phase) {
    if (name.ends_with(kPhaseWords[phase].substr(1))) return static_cast<Phase>(phase);
  }
  return Phase::kNone;
}

Phase PhaseByWord(std::string_view name) {
  for (size_t phase = 0; phase < kPhaseWords.size(); ++phase) {
    if (Contains(name, kPhaseWords[phase])) return static_cast<Phase>(phase);
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
