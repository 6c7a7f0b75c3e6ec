#include "inputs/analyser_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/fr_trace_op.h"

namespace debrief::inputs {

namespace {

constexpr uint64_t kAnalyserWindow = 1 << 20;
constexpr std::string_view kInEachBlock = "internal record id: ";
constexpr size_t kMostBlocks = 65536;

// The number behind a head line; none for other lines.
int64_t SequenceOf(std::string_view line) {
  static constexpr std::array<std::string_view, 3> kHeads = {
      "Not all ranks joining collective, sequence number: ", "Collective sequence number: ",
      "Input/output mismatch in the collective sequence number: "};
  for (const std::string_view head : kHeads) {
    const size_t at = line.find(head);
    if (at != std::string_view::npos) return LeadingNumber(line.substr(at + head.size()), kNone64);
  }
  return kNone64;
}

// {0, 1, 2}.
std::vector<int64_t> NumbersOfSet(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    text.remove_prefix(digit);
    numbers.push_back(LeadingNumber(text, int64_t{0}));
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  return numbers;
}

Result<bool> HasBlocks(const Source& source) {
  for (uint64_t at = 0; at < source.size(); at += kAnalyserWindow) {
    ASSIGN_OR_RETURN(const ByteView bytes, source.View(at, kAnalyserWindow + kInEachBlock.size()));
    if (HasWord(bytes.text(), kInEachBlock)) return true;
  }
  return false;
}

// Lines of a block until its stack or the next head.
class Blocks {
 public:
  Blocks(const Identity& who, Part& part) : who_(who), part_(part) { who_.rank = kNone32; }

  void Add(std::string_view line, int64_t number) {
    const int64_t sequence = SequenceOf(line);
    if (sequence != kNone64) {
      Finish();
      row_ = Part::RowOf<FrTraceOpRow>(who_);
      row_.input = who_.input;
      row_.line = number;
      row_.seq = sequence;
      open_ = true;
    } else if (open_) {
      AddField(line);
    }
  }

  void Finish() {
    const bool is_whole = open_ && row_.op != StringId::kNone;
    open_ = false;
    if (is_whole && count_++ < kMostBlocks) part_.tables.Edit<FrTraceOpTable>().Add(row_);
  }

 private:
  // What follows `key` in the line.
  static bool Take(std::string_view line, std::string_view key, std::string_view& value) {
    const size_t at = line.find(key);
    if (at == std::string_view::npos) return false;
    value = Trimmed(line.substr(at + key.size()));
    return true;
  }

  void AddField(std::string_view line) {
    std::string_view value;
    auto ranks = [&] {
      const std::vector<int64_t> numbers = NumbersOfSet(value);
      return numbers.empty() ? ListId::kNone : part_.pools.lists.Intern(numbers);
    };
    if (Take(line, "collective stack trace:", value)) return Finish();
    if (Take(line, "group info: ", value)) {
      const size_t colon = std::min(value.find(':'), value.size());
      row_.group_name = part_.pools.Intern(value.substr(0, colon));
      row_.group_desc = part_.pools.Intern(value.substr(std::min(colon + 1, value.size())));
    } else if (Take(line, "missing ranks: ", value)) {
      row_.missing = ranks();
    } else if (Take(line, "expected ranks: ", value)) {
      row_.expected = ranks();
    } else if (Take(line, "collective state: ", value)) {
      row_.state = part_.pools.Intern(value);
    } else if (Take(line, "input sizes: ", value)) {
      row_.input_sizes = part_.pools.Intern(value);
    } else if (Take(line, "output sizes: ", value)) {
      row_.output_sizes = part_.pools.Intern(value);
    } else if (Take(line, "error msg: ", value)) {
      row_.mismatch = part_.pools.Intern(value);
    } else if (Take(line, "collective: ", value)) {
      const size_t colon = value.rfind(':');
      row_.recorder = part_.pools.Intern(value.substr(0, std::min(colon, value.size())));
      row_.op = part_.pools.Intern(value.substr(colon == std::string_view::npos ? 0 : colon + 1));
    }
  }

  Identity who_;
  Part& part_;
  FrTraceOpRow row_;
  bool open_ = false;
  size_t count_ = 0;
};

}  // namespace

Status AddAnalyserText(const Source& source, const Identity& who, Part& part) {
  ASSIGN_OR_RETURN(const bool has_blocks, HasBlocks(source));
  if (!has_blocks) return {};
  Blocks blocks(who, part);
  TRY(ForEachLine(source, kAnalyserWindow,
                  [&](std::string_view line, int64_t number) { blocks.Add(line, number); }));
  blocks.Finish();
  return {};
}

}  // namespace debrief::inputs
