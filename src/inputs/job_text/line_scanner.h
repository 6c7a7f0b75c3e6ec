// One range of the text -> the few lines of it that matter.
//
// Whether a line matters may depend on lines of an earlier range (is a traceback open?), which
// another thread reads at the same time. So a line is kept when it can matter whatever came before,
// and EventBuilder, which sees all kept lines in order, drops what turned out not to. That is never
// more than one line too many per range and stream: the first that could be an exception.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/pools/ids.h"
#include "inputs/job_text/line_class.h"

namespace debrief::inputs::job_text {

// A line is looked at up to here, and kept up to here.
inline constexpr size_t kMaxLook = 16 * 1024;
inline constexpr size_t kMaxText = 2048;

// How a launcher marks the lines of its processes, beyond the marks that are always known.
enum class Labels : uint8_t {
  kNone,
  kColon,    // srun --label: " 3: text"
  kBracket,  // "[3] text", "[3]: text"
};

// Labels of most of the lines of `head`. Numbers that only ever grow are line numbers and not
// labels.
Labels DetectLabels(std::string_view head);

// Whose line it is.
struct Owner {
  int32_t rank = kNone32;        // [rank3]:
  int32_t local_rank = kNone32;  // [default3]:, of torchrun --tee

  bool operator==(const Owner&) const = default;
};

struct Line {
  LineClass what = LineClass::kOther;
  uint32_t stream = 0;  // of RangeLines::streams
  int64_t number = 0;   // from 0 in the range
  std::string text;     // without prefix and colours, at most kMaxText bytes
};

struct RangeLines {
  struct Stream {
    Owner owner;
    int64_t last_number = 0;
    std::string last_text;  // the last line that is not blank
  };
  std::vector<Line> lines;
  std::vector<Stream> streams;
  int64_t line_count = 0;
};

// A message of many lines repeats its header in each. If that of `next` is the one `text` begins
// with, the message is put behind a newline, up to kMaxText bytes in all; joining in any grouping
// gives the same.
bool JoinLogText(std::string& text, std::string_view next);

class LineScanner {
 public:
  explicit LineScanner(Labels labels) : labels_(labels) {}

  RangeLines Scan(std::string_view range);

 private:
  struct Stream {
    std::string_view last;  // as it stands in the range
    int64_t last_number = 0;
    bool may_end = true;  // a traceback may be open
    size_t log = 0;       // 1 + index of the last torch log line kept
  };

  void Add(std::string_view raw);
  std::string_view Clean(std::string_view raw);
  uint32_t StreamOf(const Owner& owner);
  void Keep(LineClass what, uint32_t stream, std::string_view text);

  Labels labels_;
  bool needs_cleaning_ = false;
  std::string clean_;
  std::vector<Stream> streams_;
  std::unordered_map<uint64_t, uint32_t> by_owner_;
  Owner last_owner_;
  uint32_t last_stream_ = 0;
  RangeLines result_;
};

}  // namespace debrief::inputs::job_text
