// One range of the text -> the few lines of it that matter.
//
// Whether a line matters may depend on lines of an earlier range (is a traceback open?), which
// another thread reads at the same time. So a line is kept when it can matter whatever came before,
// and EventBuilder, which sees all kept lines in order, drops what turned out not to. That is never
// more than one line too many per range and stream: the first that could be an exception.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "inputs/job_text/line_class.h"
#include "inputs/job_text/lines/progress_lines.h"
#include "inputs/job_text/weights.h"
#include "inputs/job_text/wrapped_rows.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief::inputs::job_text {

// A line is looked at up to here, and kept up to here.
inline constexpr size_t kMaxLook = 16 * 1024;
inline constexpr size_t kMaxText = 2048;

// The last plain lines of a stream that are kept, and up to where.
inline constexpr size_t kTailLines = 8;
inline constexpr size_t kMaxTail = 300;

// Whose line it is.
struct Owner {
  int32_t rank = kNone32;        // [rank3]:
  int32_t local_rank = kNone32;  // [default3]:, of torchrun --tee
  int64_t pid = kNone64;         // (RayTrainWorker pid=77)
  uint32_t host = 0;             // 1 + index into a list of hosts; 0: not told
  uint32_t engine = 0;           // EnginePlace of a serving engine's process; 0: not told

  auto operator<=>(const Owner&) const = default;
  // Nothing is known of whose it is but, perhaps, the host.
  bool IsNobody() const {
    return rank == kNone32 && local_rank == kNone32 && pid == kNone64 && engine == 0;
  }
};

struct Line {
  LineClass what = LineClass::kOther;
  uint32_t stream = 0;         // of RangeLines::streams
  int64_t number = 0;          // from 0 in the range
  int64_t time_ns = kNone64;   // as a mark before the text tells it
  bool raised = false;         // of an exception that nobody caught
  bool logged = false;         // by an engine's logger, which heads each line
  bool at_top = false;         // nothing but indented lines stand before it in the range
  uint32_t after = kNoStream;  // the stream of the last marked line before it, in the range
  int64_t joined = 1;          // of a torch log: lines that became one
  std::string text;            // without prefix and colours, at most kMaxText bytes; of a torch log
                               // that tells reasons LongestRecord()

  static constexpr uint32_t kNoStream = ~uint32_t{0};
};

struct ProgressAt {
  uint32_t stream = 0;
  int64_t number = 0;
  int64_t time_ns = kNone64;
  ProgressLine line;
};

struct RangeLines {
  struct Stream {
    Owner owner;
    int64_t last_number = 0;
    std::string last_text;                              // the last line that is not blank
    std::vector<std::pair<int64_t, std::string>> tail;  // its last plain lines, oldest first
  };
  std::vector<Line> lines;
  std::vector<ProgressAt> progress;
  std::vector<Stream> streams;
  std::vector<std::string> hosts;
  LineWeights weights;
  uint32_t last_marked = Line::kNoStream;
  int64_t line_count = 0;
  int64_t connected = -1;  // the first line in which gloo says so, as it has since PyTorch 2.8
  bool at_top = true;      // no line has come yet that is not indented
};

// A message of many lines repeats its header in each. If that of `next` is the one `text` begins
// with, the message is put behind a newline, up to LongestRecord() bytes in all; joining in any
// grouping gives the same.
bool JoinLogText(std::string& text, std::string_view next);

class LineScanner {
 public:
  // `joins_pieces`: the range is the whole text, and containerd cut its lines. `width`: likewise,
  // and a terminal broke them there (wrapped_rows.h).
  LineScanner(const PrefixStyle& style, int64_t now_ns, bool joins_pieces = false,
              RowWidth width = {})
      : style_(style), now_ns_(now_ns), joins_pieces_(joins_pieces), width_(width) {}

  RangeLines Scan(std::string_view range);

 private:
  struct Stream {
    std::string_view last;  // as it stands in the range
    int64_t last_number = 0;
    bool may_end = true;    // a traceback may be open
    bool listed = true;     // and it may be one of torchrun's list, which is indented
    bool keep_next = true;  // the line before it goes on in it, or is of an earlier range
    size_t log = 0;         // 1 + index of the last torch log line kept
    std::array<std::pair<int64_t, std::string_view>, kTailLines> tail;  // raw, a ring
    size_t tail_size = 0;
  };

  void Add(std::string_view raw);
  void AddWrapped(std::string_view record);
  void AddRow(std::string_view row);
  void EndRows();
  void GiveToRecord(PeeledLine& line);
  bool MayEndTraceback(LineClass what, std::string_view text, Stream& stream) const;
  std::string_view JoinPieces(std::string_view raw);
  std::string_view JoinContainerPieces(std::string_view raw);
  void AddHeld();
  std::string_view Clean(std::string_view raw);
  Owner OwnerOf(const PeeledLine& line);
  uint32_t StreamOf(const Owner& owner);
  bool AddStep(std::string_view text, int64_t time_ns, uint32_t index);
  void AddPlain(std::string_view raw, const PeeledLine& line, Stream& stream, uint32_t index);
  void Keep(LineClass what, uint32_t stream, const PeeledLine& line);
  void Finish(Stream& stream, RangeLines::Stream& result);

  PrefixStyle style_;
  int64_t now_ns_;
  bool joins_pieces_;
  RowWidth width_;
  std::string rows_;          // of a line that a terminal broke, until its last row has come
  int64_t first_row_ = 0;     // its number
  bool row_is_full_ = false;  // the last one
  bool needs_cleaning_ = false;
  std::string clean_;
  std::vector<Stream> streams_;
  std::map<Owner, uint32_t> by_owner_;
  std::map<std::string, uint32_t, std::less<>> hosts_;
  std::map<std::string_view, std::string> held_;  // lines that came in pieces, by label
  std::deque<std::string> joined_;                // those that are whole, and what records held
  Owner last_owner_;
  uint32_t last_stream_ = 0;
  int32_t record_rank_ = kNone32;  // of the error whose lines these may be
  RangeLines result_;
};

}  // namespace debrief::inputs::job_text
