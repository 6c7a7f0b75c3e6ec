// How events are called by the two runtimes that write accelerator traces.
//
//   Flex    AIU runtime: "<kernel> Cmpt Exec", "<x> DmaI", "Flex RoundTrip"; cycle stamps TS1..TS5
//   torch   Kineto: categories "kernel", "gpu_memcpy"; "aiuSuperNodeExecution", "Memcpy HtoD"
//
// All that a name or a category can say is found out once per distinct text and kept as bits: an
// event is then tested without looking at text.
//
// Cost: a few searches a distinct name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace debrief::accel {

enum class Dialect : uint8_t { kFlex, kTorch };

// The four phases of a device event of Flex, in the order of time; a phase lies between the stamps
// TS[phase + 1] and TS[phase + 2].
enum class Phase : uint8_t { kDmaIn, kPrep, kExec, kDmaOut, kNone };

// Bits of a name: what it says about the runtime, whichever dialect it is of.
enum NameBit : uint32_t {
  kNameDataConvert = 1u << 0,     // Flex: "Compute of " what is no SenFusedDeviceNode
  kNameRdmaPrepSync = 1u << 1,    // Flex: PrepareAndSyncRdma
  kNameSuperNode = 1u << 2,       // Flex: Flex RoundTrip
  kNameTorchConvert = 1u << 3,    // torch: aiuDataConvert
  kNameTorchRdmaSync = 1u << 4,   // torch: aiuPrepareAndSyncRdma
  kNameTorchSuperNode = 1u << 5,  // torch: aiuSuperNodeExecution, aiuLaunchSuperNode
  kNameBarrier = 1u << 6,         // contains "Barrier:"
  kNameRoundtrip = 1u << 7,       // contains "AIU Roundtrip"
  kNameRdma = 1u << 8,            // contains "Rdma"
};
uint32_t NameBits(std::string_view name);

// What the bits mean in a dialect.
bool IsDataConvert(uint32_t name_bits, Dialect dialect);
bool IsRdmaPrepSync(uint32_t name_bits, Dialect dialect);
bool IsSuperNode(uint32_t name_bits, Dialect dialect);

// The phase that a name ends with, as stamps are anchored; kNone for any other.
Phase PhaseBySuffix(std::string_view name);

// The first phase, in order, whose word the name has with a blank before it.
Phase PhaseByWord(std::string_view name);

// Phases of the runtime on the host and what each dialect calls them; an empty name: not traced.
struct RuntimePhase {
  std::string_view phase;
  std::string_view flex;
  std::string_view torch;
};
std::span<const RuntimePhase> RuntimePhases();

}  // namespace debrief::accel
