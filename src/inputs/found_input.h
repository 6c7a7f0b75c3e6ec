// One thing found under the given paths, before and while it is imported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/decompress.h"
#include "base/bytes/source.h"
#include "inputs/importer.h"
#include "inputs/text_clues.h"
#include "model/diagnostics.h"
#include "model/model.h"

namespace debrief {

enum class InputState : uint8_t { kImported, kRecognised, kSkipped, kFailed };
std::string_view InputStateName(InputState state);

struct FoundInput {
  std::string path;    // as shown: the given path joined with what lies below; archive!member
  std::string folder;  // of the file, or archive and folder inside it
  std::string name;    // last part, without .gz or .zst
  std::string file;    // what to open; empty for archive members and stdin
  uint64_t bytes = 0;
  int64_t content_bytes = kNone64;
  Packing packing = Packing::kNone;

  const Importer* importer = nullptr;  // null: unknown
  Recognition recognition;
  TextClues text;                       // of plain texts: who wrote it
  std::vector<const Importer*> claims;  // all that take it; only the first unless asked for
  std::unique_ptr<Source> unpacked;     // archive members and stdin that will be imported
  int64_t member = kNone64;             // InputMember::number, of a file that holds several inputs

  InputState state = InputState::kRecognised;
  std::string host;
  Identity who;
  int32_t local_rank = kNone32;     // of its node, where a launcher's folder or the name tells
  int64_t named_run = kNone64;      // of a scheduler, where names tell several apart
  int32_t named_attempt = kNone32;  // as folder or name tell
  std::string why_rank, why_attempt;
  int64_t rows = 0;

  // Trouble met before the input had a number.
  struct Note {
    const DiagnosticKind* kind;
    Occurrence occurrence;
  };
  std::vector<Note> notes;
};

// What the bytes suffered before an importer saw them, as a diagnostic ("gzip.truncated").
FoundInput::Note NoteOf(const Status& trouble, Packing packing);

}  // namespace debrief
