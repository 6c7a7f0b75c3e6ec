// Snapshots of the CUDA caching allocator (torch.cuda.memory._snapshot), a pickle. Recognised; a
// reader comes with the profiles part.
#include "inputs/importer.h"

#include "inputs/sniffing.h"

namespace debrief::inputs::memory_snapshot {

namespace {

Recognition Sniff(const SniffInput& input) {
  auto has = [&](std::string_view key) { return input.head.find(key) != std::string_view::npos; };
  bool keys = has("segments") &&
              (has("device_traces") || has("allocated_size") || has("allocator_settings"));
  return {.mine = LooksLikePickle(input.head) && keys};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "memory_snapshot",
               .sentence = "memory snapshot of the CUDA caching allocator",
               .example = "memory_snapshot.pickle",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::memory_snapshot
