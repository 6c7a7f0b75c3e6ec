// One kind of entry: what stands under one key of the envelope, e.g. {"artifact": {...}, "rank":
// 0}.
//
// A kind is one file kinds/<key>.cc that defines
//
//   const Kind& debrief::inputs::torch_trace::kinds::<key>::Describe();
//
// The build collects them (tools/gen_registry.py); nothing else names them. A kind says how its
// payload is shown, and reads the value under its key into the entry's row and into tables.
#pragma once

#include <span>
#include <string_view>

#include "base/json/cursor.h"
#include "base/status.h"
#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

struct Kind {
  std::string_view key;       // of the envelope; the file's name
  std::string_view sentence;  // what one such entry tells

  // Where an entry has several kinds of content, they are numbered in this order.
  int order = 100;

  // How the payload is shown (table compile_entry, column `form`), and in which file: "" means
  // <key>.<txt or html>. A kind whose file depends on the value sets both in `read`.
  std::string_view form = {};
  std::string_view file = {};

  // Most entries are of this kind and all payloads differ: a checksum that holds is not kept.
  bool forgets_checksum = false;

  // Reads the value. An error refuses the whole entry: the log was not written by what we know.
  // Null: any object will do.
  Status (*read)(JsonValue value, Entry& entry) = nullptr;

  // Reads the payload, where the tables need it. `lines` still have their tabs, and kPadding
  // readable bytes behind them. An error makes the entry unusable and is reported; its payload
  // stays.
  Status (*read_payload)(std::string_view lines, Entry& entry) = nullptr;
};

// All kinds in order of key (generated), and the one of a key or null.
std::span<const Kind* const> AllKinds();
const Kind* FindKind(std::string_view key);

}  // namespace debrief::inputs::torch_trace
