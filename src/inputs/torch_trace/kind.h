// One kind of entry: what stands under one key of the envelope, e.g. {"artifact": {...}, "rank":
// 0}.
//
// Kinds stand in tables by subject, kinds/<subject>.cc. A kind says how its payload is shown, and
// reads the value under its key into the entry's row and into tables.
#pragma once

#include <span>
#include <string_view>

#include "base/json/cursor.h"
#include "base/status.h"
#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

struct Kind {
  std::string_view key;       // of the envelope
  std::string_view sentence;  // what one such entry tells

  // Reads the value. An error refuses the whole entry: the log was not written by what we know.
  // Null: any object will do.
  Status (*read)(JsonValue value, Entry& entry) = nullptr;

  // Where an entry has several kinds of content, they are numbered in this order.
  int order = 100;

  // How the payload is shown (table compile_entry, column `form`): in <key>.html where that is a
  // page, else in <key>.txt. A kind whose file depends on the value sets both in `read`.
  std::string_view form = {};
  bool is_page() const { return form == "code" || form == "guards" || form == "metrics"; }

  // Most entries are of this kind and all payloads differ: a checksum that holds is not kept.
  bool forgets_checksum = false;

  // Reads the payload, where the tables need it. `lines` still have their tabs, and kPadding
  // readable bytes behind them. An error makes the entry unusable and is reported; its payload
  // stays.
  Status (*read_payload)(std::string_view lines, Entry& entry) = nullptr;
};

// The kinds of a subject.
std::span<const Kind> ArtifactKinds();
std::span<const Kind> CompilationKinds();
std::span<const Kind> GraphKinds();
std::span<const Kind> ShapeKinds();
std::span<const Kind> TensorKinds();

// All kinds, and the one of a key or null.
std::span<const Kind* const> AllKinds();
const Kind* FindKind(std::string_view key);

}  // namespace debrief::inputs::torch_trace
