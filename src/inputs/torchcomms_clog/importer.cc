// The clog of torchcomms: what one rank asked its communicators for, and when each operation began
// and ended, as text. docs/formats/torchcomms_clog.md
//
//   V|1|base_timestamp=1714234567.890
//   new_comm|comm=world|rank=0|world_size=8
//   C1|sig|all_reduce|in_count=1024|out_count=1024|dtype=f32|red_op=sum|async_op=f|comm=world
//   C1|Q|work_id=1|+0.001
#include "inputs/importer.h"

#include <array>

#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "inputs/torchcomms_clog/clog_line.h"
#include "inputs/torchcomms_clog/clog_ops.h"

namespace debrief::inputs::torchcomms_clog {

namespace {

Recognition Sniff(const SniffInput& input) {
  if (!input.head.starts_with("V|") || !LooksLikeText(input.head)) return {};
  const ClogLine head = ParseLine(Trimmed(FirstLine(input.head)));
  if (head.kind != LineKind::kHead) return {};
  Recognition found{.mine = true};
  found.start_ns = head.head_ms * 1'000'000;
  // The largest communicator is that of the job, and its rank that of the process.
  std::string_view rest = input.head;
  while (!rest.empty()) {
    const std::string_view text = FirstLine(rest);
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const ClogLine line = ParseLine(Trimmed(text));
    const int32_t size = RankOrNone(ParseNumber<int64_t>(line.Get("world_size")));
    if (line.kind != LineKind::kComm || size == kNone32 || size <= found.world_size) continue;
    found.world_size = size;
    found.rank = RankOrNone(ParseNumber<int64_t>(line.Get("rank")));
  }
  return found;
}

class ClogReader final : public TextReader {
 public:
  using TextReader::TextReader;

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)range;
    ClogOps ops(who_, part);
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) { ops.Add(line, number); }));
    ops.Finish();
    return {};
  }
};

constexpr std::array<std::string_view, 3> kMakes = {"comm_dump", "comm_group", "comm_op"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "torchcomms_clog",
               .sentence = "clog of torchcomms: the operations of one rank, as text",
               .example = "clog_rank0.log",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<ClogReader>};
  return kImporter;
}

}  // namespace debrief::inputs::torchcomms_clog
