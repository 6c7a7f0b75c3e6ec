// What a device event is called by the two runtimes that write accelerator traces.
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

// Bits of a name. `ends with` where the runtime puts the word last, `contains` where it does not.
enum NameBit : uint32_t {
  kNameExecLast = 1u << 0,        // ends with "Cmpt Exec"
  kNamePrepLast = 1u << 1,        // ends with "Cmpt Prep"
  kNameDmaIn = 1u << 2,           // contains " DmaI"
  kNameDmaOut = 1u << 3,          // contains " DmaO"
  kNameMemcpyIn = 1u << 4,        // torch: "Memcpy (HtoD)", and as Kineto writes it "Memcpy HtoD ("
  kNameMemcpyOut = 1u << 5,       // likewise, DtoH
  kNameDataConvert = 1u << 6,     // Flex: "Compute of " what is no SenFusedDeviceNode
  kNameRdmaPrepSync = 1u << 7,    // PrepareAndSyncRdma
  kNameBarrier = 1u << 8,         // "Barrier:"
  kNameSuperNode = 1u << 9,       // Flex RoundTrip
  kNameExec = 1u << 10,           // contains "Cmpt Exec"
  kNamePrep = 1u << 11,           // contains " Prep"
  kNameRoundtrip = 1u << 12,      // contains "AIU Roundtrip"
  kNameIsRoundtrip = 1u << 13,    // is "AIU Roundtrip"
  kNameAllReduce = 1u << 14,      // contains "AllReduce"
  kNameSenRdma = 1u << 15,        // contains "SenRdma"
  kNameHcoll = 1u << 16,          // contains "HCOLL"
  kNameTorchConvert = 1u << 17,   // aiuDataConvert
  kNameTorchRdmaSync = 1u << 18,  // aiuPrepareAndSyncRdma
  kNameTorchSuperNode = 1u << 19,  // aiuSuperNodeExecution, aiuLaunchSuperNode
  kNameOldMemcpyIn = 1u << 20,     // "[Mm]emcpy (HtoD)" alone: the reference's rule
  kNameOldMemcpyOut = 1u << 21,
  kNameRdma = 1u << 22,  // contains "Rdma"
};
uint32_t NameBits(std::string_view name);

// Bits of a category.
enum CatBit : uint32_t {
  kCatDevice = 1u << 0,     // contains "gpu" or "kernel"
  kCatKernel = 1u << 1,     // contains "kernel"
  kCatIsKernel = 1u << 2,   // is "kernel"
  kCatIsRuntime = 1u << 3,  // is "cuda_runtime"
  kCatIsMemcpy = 1u << 4,   // is "gpu_memcpy"
};
uint32_t CatBits(std::string_view cat);

// What the tests below look at.
struct EventLook {
  Dialect dialect = Dialect::kFlex;
  uint32_t name = 0;            // NameBits
  uint32_t cat = 0;             // CatBits
  bool has_stamps = false;      // args.TS1
  bool has_collective = false;  // args.CollGroup
};

bool IsDeviceEvent(const EventLook& event);
bool IsKernel(const EventLook& event);
bool IsComputePrep(const EventLook& event);
bool IsDataConvert(const EventLook& event);
bool IsRdmaPrepSync(const EventLook& event);
bool IsBarrier(const EventLook& event);
bool IsSuperNode(const EventLook& event);
bool IsCollective(const EventLook& event);

// Transfers by name. `compat` knows "Memcpy (HtoD)" but not Kineto's "Memcpy HtoD (Pageable ->
// Device)".
bool IsHostToDevice(const EventLook& event, bool compat);
bool IsDeviceToHost(const EventLook& event, bool compat);

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
