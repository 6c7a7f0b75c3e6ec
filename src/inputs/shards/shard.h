// A job that is read on many machines: each writes a shard of what it read, one joins them.
//
//   debrief map PATHS... --shard 2/7      find all --> assign --> read the third share --> shard
//   debrief reduce SHARDS...              found of all shards --> assign --> join parts --> analyse
//
// A shard has everything that was found (which costs the names), and of its own share the parts as
// importers made them. Whoever joins shards therefore assigns jobs from the same evidence and joins
// the same parts in the same order as one process that reads all: what comes out is the same,
// whatever the number and order of shards. An input whose shard is missing or damaged is one that
// could not be read. Several shards can be joined to one (`debrief reduce --shard-only`), which
// stands for all of them.
//
//   file:   kMagic, packed records and sources, packed long lists, packed index, tail
//   record: what became of the input, its part; of compile logs the bytes that payloads point into
//   tail:   where the index is, and its MD5
//
// Cost of reduce: all rows of the job pass through it; dumps shrink to about a tenth of their
// bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/spill.h"
#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "inputs/found_input.h"
#include "inputs/import.h"
#include "inputs/shards/codec.h"
#include "inputs/shards/index.h"

namespace debrief::shards {

inline constexpr DiagnosticKind kShardMissing = {
    "shard.missing", Severity::kError, "the shard that has it is missing or damaged; left out",
    "Run `debrief map` for that shard again, then `debrief reduce`."};

struct Share {
  uint32_t number = 0;  // from 0
  uint32_t of = 1;
  // The paths are this machine's own, and all of them are read; number and of are those of tasks.
  bool is_local = false;
  std::string host = {};  // of a local one
};

// The share of every input: as many bytes in each as can be, what a rank left never split.
std::vector<uint32_t> Divide(const std::vector<FoundInput>& inputs, uint32_t shares);

// Everything that was found, to be taken before jobs are assigned.
std::string FoundBytes(const std::vector<FoundInput>& inputs);

// Reads the inputs of a share, whose jobs are assigned, and writes the shard. The file appears as a
// whole or not at all, and replaces one of that name.
Status WriteShard(const std::string& path, const std::string& found,
                  std::vector<FoundInput>& inputs, const Share& share, const ImportOptions& options,
                  ThreadPool& pool, SpillBudget& budget);

// One shard, open.
struct Shard {
  std::string path;
  std::unique_ptr<Source> file;
  ShardIndex index;
  std::vector<std::unique_ptr<LongLists>> long_lists;  // as in the index
};
Result<std::unique_ptr<Shard>> OpenShard(const std::string& path);

// Files of shards, in folders those whose name says so.
std::vector<std::string> ShardFiles(const std::vector<std::string>& paths);

// The shards of a job.
class ShardSet {
 public:
  // Files, or folders of them. A shard that cannot be read is left out and told; a Status only when
  // none can.
  Status Open(const std::vector<std::string>& paths);

  const std::vector<Status>& troubles() const { return troubles_; }
  // As "shard 3 of 7"; those that no file holds.
  const std::vector<std::string>& missing() const { return missing_; }
  // Whether machines with files of their own are missing, so that nobody knows what these had.
  bool lacks_unknown_inputs() const { return lacks_unknown_inputs_; }

  // What was found by all, in order. Inputs without a record have failed, with a note.
  std::vector<FoundInput> TakeInputs() { return std::move(inputs_); }

  // The part of an input of TakeInputs(), whose job is assigned by now. Any thread.
  Imported Load(size_t number, FoundInput& input, SpillBudget& budget) const;

 private:
  struct Place {
    const Shard* shard = nullptr;
    const Record* record = nullptr;
  };
  struct SectionOfShard {
    const Shard* shard;
    const Section* section;
  };
  struct LocalInput {
    FoundInput input;
    Place place;
    std::string_view host;
  };

  void AddListing(std::span<const SectionOfShard> sections);
  void AddLocal(std::span<const SectionOfShard> sections);
  void AddMissing(std::span<const SectionOfShard> sections);
  static void Add(const SectionOfShard& of, std::vector<LocalInput>& all);
  static bool IsSame(const LocalInput& one, const LocalInput& other);

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<FoundInput> inputs_;
  std::vector<Place> places_;  // by number of an input
  std::vector<Status> troubles_;
  std::vector<std::string> missing_;
  bool lacks_unknown_inputs_ = false;
};

// Joins shards to one that stands for all of them. What cannot be read is left out and told in
// `troubles`; a Status when none can be, or the file cannot be written.
Status JoinShards(const std::vector<std::string>& paths, const std::string& output,
                  std::vector<Status>& troubles);

// Where machines with files of their own are missing, nobody knows what these had. Each of
// `missing` becomes an input that could not be read, and so does a rank of which nothing was read:
// it may have left everything there, and nobody must take it for one that left nothing.
void AddLostInputs(const std::vector<std::string>& missing, Model& model);

}  // namespace debrief::shards
