// Snapshots of the CUDA caching allocator (torch.cuda.memory._dump_snapshot), a pickle.
// docs/formats/memory_snapshot.md
//
// A pickle is one range: where a value begins is known only by reading what is before it. It is
// read through windows, by one thread; snapshots come one per rank, so threads have work.
#include "inputs/importer.h"

#include <array>

#include "inputs/memory_snapshot/snapshot_builder.h"
#include "inputs/sniffing.h"

namespace debrief::inputs::memory_snapshot {

namespace {

// The keys of the dict, or those of a segment where the snapshot is the list of them alone.
Recognition Sniff(const SniffInput& input) {
  auto has = [&](std::string_view key) { return HasWord(input.head, key); };
  bool is_dict = has("segments") &&
                 (has("device_traces") || has("allocated_size") || has("allocator_settings"));
  bool is_list = has("segment_type") && has("total_size") && has("blocks");
  return {.mine = LooksLikePickle(input.head) && (is_dict || is_list)};
}

class SnapshotReader final : public Reader {
 public:
  explicit SnapshotReader(const ImportContext& context)
      : who_(context.who), window_bytes_(context.chunk_bytes) {}

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    return SnapshotBuilder(source, range, window_bytes_, who_, part).Read();
  }

  // There is one part; copying it would hold the tables twice.
  Status Merge(Part&& part, Part& whole) override {
    Diagnostics diagnostics = std::move(whole.diagnostics);
    diagnostics.Append(part.diagnostics);
    whole = std::move(part);
    whole.diagnostics = std::move(diagnostics);
    return {};
  }

 private:
  Identity who_;
  uint64_t window_bytes_;
};

constexpr std::array<std::string_view, 6> kMakes = {"memory_annotation", "memory_block",
                                                    "memory_event",      "memory_segment",
                                                    "memory_setting",    "memory_snapshot"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "memory_snapshot",
               .sentence = "memory snapshot of the CUDA caching allocator",
               .example = "memory_snapshot.pickle",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<SnapshotReader>};
  return kImporter;
}

}  // namespace debrief::inputs::memory_snapshot
