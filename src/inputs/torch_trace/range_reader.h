// Reads one range of a log, which begins with the line of an entry, into rows and notes.
//
// One pass: a line is found, its prefix and JSON are read, the lines of its payload are skipped
// over and summed. Payloads are not copied, but for the checksum.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/md5.h"
#include "base/json/cursor.h"
#include "inputs/importer.h"
#include "inputs/torch_trace/entry.h"
#include "inputs/torch_trace/envelope.h"

namespace debrief::inputs::torch_trace {

class RangeReader {
 public:
  RangeReader(const LogIdentity& log, int64_t now_ns, std::string_view text, uint64_t offset,
              Part& part);

  void ReadAll();

 private:
  struct Line {
    std::string_view text;  // without its end
    size_t begin = 0;       // in the range
    size_t end = 0;         // behind its end
  };

  bool NextLine(Line& line);
  void ReadEntry(const Line& line);
  void ReadParsed(const Line& line, const Envelope& envelope, CompileEntryRow row,
                  std::string_view json);
  Status ReadKinds(const Envelope& envelope, std::string_view json, Entry& entry);
  Status ReadContent(std::string_view json, const Kind& kind, Entry& entry);
  std::string_view TakePayload(const Envelope& envelope, CompileEntryRow& row);
  bool ChecksumHolds(std::string_view lines, std::string_view md5);
  const Envelope& ParseEnvelope(const Line& line, std::string_view& json);
  void AddLoose(const Line& line);
  void SetRank(const Envelope& envelope, CompileEntryRow& row) const;
  void AddString(const Line& line, const Envelope& envelope, const CompileEntryRow& row);
  void AddUnknown(const Envelope& envelope, const CompileEntryRow& row);
  void AddRefused(const Line& line, const Envelope& envelope, CompileEntryRow row);
  void Report(const DiagnosticKind& kind, const Line& line, std::string detail = {});

  LogIdentity log_;
  Identity who_;
  int64_t now_ns_;
  std::string_view text_;
  uint64_t offset_;  // of the range in the log
  size_t at_ = 0;
  int64_t line_number_ = 0;  // of the line read last, from 1 in the range
  Part& part_;
  RangeNotes& notes_;
  EnvelopeParser envelopes_;
  JsonReader json_;
  std::string payload_;   // scratch for the checksum
  std::string repaired_;  // scratch for lines that are no UTF-8
};

}  // namespace debrief::inputs::torch_trace
