// Plug-in point 1: bytes -> model. One format is one folder src/inputs/<name>/ that defines
//
//   const Importer& debrief::inputs::<name>::Describe();
//
// An importer says what it is, recognises its files by their first bytes and name, and reads them
// in three steps:
//
//   Split   a source into ranges that start and end at record boundaries      one thread, cheap
//   Read    a range into a Part, knowing nothing of other ranges              many threads
//   Merge   the Parts in order into one (string tables, numbering, ...)       one thread
//
// docs/howto/add-an-importer.md goes through all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/json/outline.h"
#include "base/status.h"
#include "model/model.h"

namespace debrief {

// Bytes that a sniffer sees at most. 64 KiB reaches past the device list of a profile of eight
// GPUs.
inline constexpr size_t kSniffBytes = 64 * 1024;

struct SniffInput {
  std::string_view path;                     // as shown to the user
  std::string_view name;                     // last part, without .gz or .zst
  std::string_view head;                     // first bytes after decompression, at most kSniffBytes
  bool whole = false;                        // `head` is all there is
  const JsonOutline* json = nullptr;         // of `head` when it starts like JSON, else null
  std::span<const std::string> tables = {};  // of a SQLite database: wherever they stand in it
  int64_t now_ns = 0;                        // for formats whose times have no year
};

// What the first bytes tell. Fields that they do not tell stay none.
struct Recognition {
  bool mine = false;
  int32_t rank = kNone32;  // as the content says
  int32_t rank_in_name =
      kNone32;  // as this format puts it into file names, beyond "rank3" and the like
  int32_t local_rank = kNone32;  // among the processes of one node
  int32_t world_size = kNone32;
  int64_t start_ns = kNone64;
  std::string host = {};
  int64_t pid = kNone64;
};

// One of several inputs that a single file holds: a process of a recording, a text it printed.
struct InputMember {
  std::string name;          // shown behind the path; empty: the file itself
  Recognition recognition;   // replaces what the first bytes told; of a text: host and process
  int64_t number = kNone64;  // tells the reader which one to read (ImportContext::member)
  bool is_text = false;      // `text` is the content, and recognised like a file of its own
  std::string text;
  const DiagnosticKind* unread = nullptr;  // why it cannot be read; null: it can
};

struct ImporterInfo {
  std::string_view name;                    // the folder's name; also the `kind` of an input
  std::string_view sentence;                // what the files are
  std::string_view example;                 // a file name people will recognise
  std::span<const std::string_view> makes;  // tables it fills; empty while it only recognises
  bool fallback = false;                    // takes what no other importer takes (plain text)
  bool one_per_process = false;             // a second file of the same rank means a second attempt
};

struct ImportContext {
  Identity who;
  std::string_view path;
  uint64_t chunk_bytes = 1 << 20;  // the size of range to aim at; tests use 1, 7 and 100
  int64_t now_ns = 0;              // for formats whose times have no year
  bool keeps_args = false;         // of timelines: fill timeline_args
  bool ops_alone = false;          // of recordings: recorded ops and memory, no timeline
  int64_t member = kNone64;        // InputMember::number; none: all of the file
};

// Reads one source. The framework calls Split once, Read for every range from many threads, and
// Merge once per range in order; then Finish.
class Reader {
 public:
  virtual ~Reader() = default;

  // The default: one range, for formats whose records need all that came before them.
  virtual Result<std::vector<ByteRange>> Split(const Source& source) {
    if (source.size() == 0) return std::vector<ByteRange>();
    return std::vector<ByteRange>{{0, source.size()}};
  }

  // What is wrong with the bytes goes into `part.diagnostics` and reading goes on; a Status means
  // that nothing more can be read from this range.
  virtual Status Read(const Source& source, ByteRange range, Part& part) const = 0;

  // Joins the next part. The default appends.
  virtual Status Merge(Part&& part, Part& whole) {
    whole.Append(std::move(part));
    return {};
  }

  virtual Status Finish(Part& whole) {
    (void)whole;
    return {};
  }
};

// Importer::open of a reader that needs nothing but the context.
template <typename T>
std::unique_ptr<Reader> MakeReader(const ImportContext& context) {
  return std::make_unique<T>(context);
}

// One of several inputs of the same kind, rank and attempt, read and not yet joined to the model.
struct Twin {
  int32_t input = kNone32;
  Part* part = nullptr;
  bool keep = true;
};

struct Importer {
  ImporterInfo info;
  Recognition (*sniff)(const SniffInput& input) = nullptr;
  // Null while the format is only recognised.
  std::unique_ptr<Reader> (*open)(const ImportContext& context) = nullptr;
  // Where a rank may leave the same thing twice (a dump as pickle and as JSON): decides which parts
  // are kept, and adds a diagnostic to those where they differ. Called with two or more, in order
  // of path.
  void (*settle)(std::span<Twin> twins) = nullptr;
  // Where a file may hold several inputs, or says who it is of only deep inside: lists them. Reads
  // little; empty when nothing is known beyond the first bytes.
  std::vector<InputMember> (*members)(const Source& source) = nullptr;
};

// All importers, in order of name (generated from the folders).
std::span<const Importer* const> AllImporters();

// Null when there is none of this name.
inline const Importer* FindImporter(std::string_view name) {
  for (const Importer* importer : AllImporters()) {
    if (importer->info.name == name) return importer;
  }
  return nullptr;
}

}  // namespace debrief
