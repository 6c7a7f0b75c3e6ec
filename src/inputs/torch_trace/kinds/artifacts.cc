// Files, code and addresses that the compiler keeps: the payload is their content.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace {

namespace {

// {"artifact": {"name": "fx_graph_cache_hit", "encoding": "json"}}; the payload is text or JSON.
constexpr Field<CompileEntryRow> kArtifact[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
    {"encoding", FieldType::kText, &CompileEntryRow::detail, kRequired},
};

Status ReadArtifact(JsonValue value, Entry& entry) {
  TRY(ReadEntryRow<kArtifact>(value, entry));
  std::string encoding = entry.TextOf(entry.row.detail);
  if (encoding != "string" && encoding != "json") {
    entry.row.state = entry.Intern("unusable");
    return {};
  }
  bool is_json = encoding == "json";
  entry.row.form = entry.Intern(is_json ? "json" : "text");
  entry.row.file = entry.Intern(entry.TextOf(entry.row.name) + (is_json ? ".json" : ".txt"));
  return {};
}

// {"dump_file": {"name": "<eval_with_key>.3"}}. Stacks point into it.
constexpr Field<CompileEntryRow> kDumpFile[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
};

// {"inductor_output_code": {"filename": "/tmp/x/cabc.py"}}
constexpr Field<CompileEntryRow> kOutputCode[] = {
    {"filename", FieldType::kText, &CompileEntryRow::detail},
};

// {"link": {"name": "profile", "url": "https://..."}}
constexpr Field<CompileEntryRow> kLink[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
    {"url", FieldType::kText, &CompileEntryRow::detail, kRequired},
};

// {"memoizer_artifacts": {"aggregated": true, "sub_key": "x"}}; the payload is JSON.
constexpr Field<CompileEntryRow> kMemoizer[] = {
    {"aggregated", FieldType::kBool},
    {"sub_key", FieldType::kText, &CompileEntryRow::name},
};

constexpr Kind kArtifacts[] = {
    {"inductor_output_code", "the code that Inductor generated", ReadEntryRow<kOutputCode>, 13,
     "code"},
    {"link", "an address that belongs to the compilation", ReadEntryRow<kLink>, 17, "link"},
    {"artifact", "anything that a part of the compiler wants to keep under a name", ReadArtifact,
     18},
    {"dump_file", "a file that exists in memory only, such as generated Python",
     ReadEntryRow<kDumpFile>, 19, "dump"},
    {"memoizer_artifacts", "what a memoizer kept", ReadEntryRow<kMemoizer>},
};

}  // namespace

std::span<const Kind> ArtifactKinds() { return kArtifacts; }

}  // namespace debrief::inputs::torch_trace
