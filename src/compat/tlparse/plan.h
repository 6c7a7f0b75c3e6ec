// What the tree of one log will hold, before a byte of it is written: every file with its path and
// number, and the listing of each compilation. Made in one pass over the entries, so that files can
// then be written by many threads in any order.
//
//   index.html  failures_and_restarts.html  compile_directory.json  chromium_events.json
//   raw.log  raw.jsonl                             one of each
//   -_0_0_0/dynamo_output_graph_0.txt              a file of compilation [0/0], and its number
//   payloads/<md5>.txt                             what no other file shows
//   dump_file/eval_with_key_3.html
//
// One counter numbers files and links in the order of the log.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/packed_column.h"

namespace debrief::outputs::tlparse_tree {

struct TreeOptions {
  bool compat =
      false;  // no pages that tlparse 0.4.3 does not have; what it does not know is unknown
  bool plain_text = false;         // -p: generated code as text
  bool export_report = false;      // -e
  bool provenance = false;         // -i
  std::string custom_header_html;  // as given, at the top of index pages
  std::string report_link;         // way from the tree's folder to debrief's report; empty: none
  std::string source_link;         // address of a frame's line, with {path} and {line}; empty: none
  std::string source_strip;        // prefix of paths that {path} goes without
};

// How the bytes of a file come about.
enum class Content : uint8_t {
  kPayload,        // the payload as it is
  kJson,           // the payload, reformatted; as it is when it is no JSON
  kCode,           // page of generated code
  kGraph,          // page of a graph, beside its text
  kGuards,         // page of guards
  kMetrics,        // page of metrics
  kDump,           // page of a dumped file, with line numbers
  kKernelStacks,   // readable page of inductor_provenance_tracking_kernel_stack_traces
  kSymbolicGuard,  // export mode: page of one guard
};

struct TreeFile {
  std::string path;  // relative to the tree
  Content content = Content::kPayload;
  size_t row = 0;            // of table compile_entry
  size_t listed = 0;         // files of its compilation that were listed before it
  int32_t compilation = -1;  // in TreePlan::compilations
};

// One line of the listing of a compilation.
struct ListedFile {
  std::string url;   // path in the tree, or the address of a link
  std::string name;  // last part of it, or the name of a link
  int32_t number = 0;
  std::string_view suffix;  // cache miss, hit or bypass as a sign; else empty
  bool has_readable = false;
  std::string readable_url;  // page for reading; empty where it could not be made
  std::string page_url;      // page of a graph; empty for other files
  size_t row = 0;            // of table compile_entry
};

struct Compilation {
  std::string id;         // as shown: "[0/0]"; "(unknown)" for a broken id
  std::string key;        // in compile_directory.json: the same, or "unknown"
  std::string directory;  // "-_0_0_0"
  std::vector<ListedFile> files;
};

// What tlparse counts; printed as "Stats { ok: 64, unknown: 1 }".
struct Stats {
  int64_t ok = 0, other_rank = 0, fail_glog = 0, fail_json = 0, fail_payload_md5 = 0;
  int64_t fail_dynamo_guards_json = 0, fail_parser = 0, fail_key_conflict = 0;
  int64_t fail_json_serialization = 0, unknown = 0;

  std::string Text() const;
  // Whether --strict refuses.
  bool Failed() const;
};

struct TreePlan {
  int32_t input = 0;
  int32_t rank = kNone32;                 // the rank the tree is about; none: the log names none
  std::vector<Compilation> compilations;  // in order of first sight
  std::vector<TreeFile> files;            // one a path: the last that claims it
  PackedColumn<size_t> rows;              // rows of compile_entry of this rank, in order of the log
  PackedColumn<size_t> events;            // those of them that are chromium events
  PackedColumn<size_t> raw_rows;          // entries of raw.jsonl (of all ranks), in order
  PackedColumn<int32_t> raw_files;  // parallel to it: the file of the payload, in `files`; or none
  std::vector<std::string> unknown_keys;
  std::vector<std::string> messages;  // what went wrong, for stderr
  bool broken_ids = false;            // an entry has a broken compile id
  Stats stats;
};

// Which entries a tree is about.
struct TreeScope {
  int32_t input = 0;
  bool rank_asked = false;  // only entries of `rank`; else of the first rank that the log names
  int32_t rank = kNone32;
  int32_t life = kNone32;  // one process life of the log; none: all of them
};

// Whether there is a chromium_events.json of these.
bool HasEvents(std::span<const TreePlan> plans);

TreePlan MakePlan(const Model& model, const TreeScope& scope, const TreeOptions& options);

}  // namespace debrief::outputs::tlparse_tree
