// Answers of NCCL RAS (`ncclras`, text or JSON): communicators, how many operations each rank has
// launched, who is dead or does not answer. docs/formats/nccl_ras.md
//
//   #0-0 (d30205294129b289) MISMATCH
//     Communicator ranks have different AllReduce operation counts
//     7 ranks have launched up to operation 35
//     Rank 2 has launched up to operation 32 -- GPU 0 managed by process 456 on node 127.0.0.1
#include "inputs/importer.h"

#include <array>

#include "base/text/strings.h"
#include "inputs/nccl_ras/answer.h"
#include "inputs/nccl_ras/ras_json.h"
#include "inputs/nccl_ras/ras_monitor.h"
#include "inputs/nccl_ras/ras_text.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"

namespace debrief::inputs::nccl_ras {

namespace {

constexpr DiagnosticKind kBadJson = {"nccl_ras.bad_json", Severity::kError,
                                     "the JSON of the answer is broken; nothing of it was read",
                                     "Ask again with `ncclras -f json`."};
constexpr DiagnosticKind kTooLong = {"nccl_ras.too_long", Severity::kWarning,
                                     "the JSON of the answer is longer than 256 MB; not read",
                                     "Ask for text: `ncclras` without -f json."};
constexpr uint64_t kMostJson = 256 << 20;

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr) {
    return {.mine = input.json->Has("nccl_version") &&
                    (input.json->Has("communicators") || input.json->Has("communicators_count"))};
  }
  const std::string_view line = Trimmed(FirstPrinted(input.head));
  return {.mine = (RasTextParser::IsFirstLine(line) || RasMonitorParser::IsEvent(line)) &&
                  LooksLikeText(input.head)};
}

class RasReader final : public TextReader {
 public:
  using TextReader::TextReader;

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(const bool is_json, IsJsonObject(source));
    if (is_json) {
      return ReadJson(source, range, {kMostJson, kTooLong, kBadJson}, part,
                      [&](std::string_view text) -> Status {
                        ASSIGN_OR_RETURN(const RasAnswer answer, ReadRasJson(text));
                        Add(answer, part);
                        return {};
                      });
    }
    RasTextParser parser([&](const RasAnswer& answer) { Add(answer, part); });
    RasMonitorParser monitor;
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
      parser.Add(line, number);
      monitor.Add(line, number);
    }));
    parser.Finish();
    if (RasAnswer answer; monitor.Finish(answer)) Add(answer, part);
    return {};
  }

 private:
  // The text has no time; the name of its file may.
  void Add(RasAnswer answer, Part& part) const {
    if (answer.time_ns == kNone64) answer.time_ns = time_ns_;
    AddAnswer(who_, answer, part);
  }
};

constexpr std::array<std::string_view, 2> kMakes = {"ras_comm", "ras_rank"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "nccl_ras",
               .sentence = "answer of NCCL RAS: communicators, counts of operations, dead ranks",
               .example = "ncclras.txt",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<RasReader>};
  return kImporter;
}

}  // namespace debrief::inputs::nccl_ras
