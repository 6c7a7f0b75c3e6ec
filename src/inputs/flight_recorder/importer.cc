// Flight Recorder dumps: the last collectives of one rank, as pickle or JSON.
// docs/formats/flight_recorder.md
//
// The writer's file name is a prefix of the user's choice with the rank glued to its end
// (nccl_trace_rank_3, _dump_12), so a trailing number is the rank. The oldest dumps are a bare list
// of entries; newer ones a dict with version, pg_config, pg_status and entries.
#include "inputs/importer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/pickle/pickle.h"
#include "inputs/flight_recorder/dump_builder.h"
#include "inputs/flight_recorder/json_dump.h"
#include "inputs/sniffing.h"

namespace debrief::inputs::flight_recorder {

namespace {

bool IsPickleDump(std::string_view head) {
  if (!LooksLikePickle(head)) return false;
  constexpr std::array<std::string_view, 4> kOwnKeys = {"pg_config", "profiling_name",
                                                        "comm_lib_version", "nccl_comm_state"};
  return std::any_of(kOwnKeys.begin(), kOwnKeys.end(),
                     [&](std::string_view key) { return HasWord(head, key); });
}

bool IsJsonDump(const JsonOutline* json) {
  if (json == nullptr) return false;
  return json->Has("entries[].profiling_name") || json->Has("[].profiling_name") ||
         (json->Has("pg_config") && json->Has("pg_status"));
}

// nccl_trace_rank_3 -> 3, rank_container-node02_5 -> 5, dump_7.json -> 7
int32_t TrailingNumber(std::string_view name) {
  name = name.substr(0, name.find('.', 1));
  size_t end = name.size();
  size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (begin == end || end - begin > 7) return kNone32;
  return static_cast<int32_t>(*NumberAt(name, begin));
}

// How many members "[0, 1, 2" has; kNone32 for anything else.
int32_t CountMembers(std::string_view list) {
  if (list.find_first_not_of("[0123456789, ") != std::string_view::npos) return kNone32;
  return static_cast<int32_t>(std::count(list.begin(), list.end(), ',') + 1);
}

// The same of all ranks of a job, "[0, 1, 2 ... last", which may be long: its length tells, also
// where a byte between the ends is damaged.
int32_t CountAllRanks(std::string_view list) {
  constexpr int64_t kMostRanks = 10'000'000;
  const size_t space = list.rfind(' ');
  if (!list.starts_with("[0, 1") || space == std::string_view::npos) return kNone32;
  const int64_t last = NumberAt(list, space + 1).value_or(kMostRanks);
  if (last >= kMostRanks) return kNone32;
  int64_t length = 1 + 2 * last + 1 + last;  // bracket, commas and blanks, last digits
  for (int64_t first = 10; first <= last; first *= 10) length += last + 1 - first;
  return static_cast<int64_t>(list.size()) == length ? static_cast<int32_t>(last + 1) : kNone32;
}

// Members of the default group stand as the text "[0, 1, 2]" in both forms. A byte of its length,
// which stands in front of it in a pickle, may look like its bracket.
int32_t WorldSize(std::string_view head) {
  constexpr size_t kLengthBytes = 4;
  const size_t at = head.find("default_pg");
  const size_t first = at == std::string_view::npos ? at : head.find('[', at);
  const size_t close = first == std::string_view::npos ? first : head.find(']', first);
  if (close == std::string_view::npos) return kNone32;
  for (size_t open = first; open < std::min(close, first + 1 + kLengthBytes); ++open) {
    if (head[open] != '[') continue;
    const std::string_view members = head.substr(open, close - open);
    const int32_t all = CountAllRanks(members);
    const int32_t size = all != kNone32 ? all : CountMembers(members);
    if (size != kNone32) return size;
  }
  return kNone32;
}

// In PyTorch's pickle the first time follows its key as memo put (q u8, or r u32) and LONG1 of 8
// bytes.
int64_t PickleTime(std::string_view head) {
  constexpr std::string_view kKey = "time_created_ns";
  size_t at = head.find(kKey);
  if (at == std::string_view::npos) return kNone64;
  at += kKey.size();
  if (at < head.size()) at += head[at] == 'q' ? 2 : head[at] == 'r' ? 5 : 0;
  if (at + 10 > head.size() || head.substr(at, 2) != "\x8a\x08") return kNone64;
  int64_t time = 0;
  std::memcpy(&time, head.data() + at + 2, sizeof(time));
  return time;
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  bool json = IsJsonDump(input.json);
  found.mine = json || IsPickleDump(input.head);
  if (!found.mine) return found;
  found.rank_in_name = TrailingNumber(input.name);
  found.world_size = WorldSize(input.head);
  found.start_ns = json ? input.json->Integer("entries[].time_created_ns").value_or(kNone64)
                        : PickleTime(input.head);
  return found;
}

// A pickle is one range: where a value begins is known only by reading what is before it. Dumps are
// a few MB and come one per rank, so threads have work.
class DumpReader final : public Reader {
 public:
  explicit DumpReader(const ImportContext& context)
      : who_(context.who), chunk_bytes_(context.chunk_bytes), json_(context.who) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    if (source.size() > PickleReader::kMaxBytes) {
      return Status(Code::kLimit, "a Flight Recorder dump of more than 4 GiB")
          .Remedy("Lower TORCH_FR_BUFFER_SIZE; the default is 2000 entries.");
    }
    constexpr uint64_t kFirstBytes = 4096;  // more blanks than that before a brace are no JSON
    const bool is_small = source.size() <= kSmallDump;
    ASSIGN_OR_RETURN(ByteView bytes, source.View(0, is_small ? source.size() : kFirstBytes));
    const std::string_view head = bytes.text().substr(0, kFirstBytes);
    const size_t first = head.find_first_not_of(" \t\r\n");
    is_json_ = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
    if (is_small && !is_json_) whole_ = std::move(bytes);
    return is_json_ ? json_.Split(source, chunk_bytes_) : Reader::Split(source);
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ByteView bytes = whole_;
    if (bytes.size() != range.size()) {
      ASSIGN_OR_RETURN(bytes, source.View(range.begin, range.size()));
    }
    if (is_json_) {
      json_.Read(bytes.text(), range.begin, part);
    } else {
      DumpBuilder(bytes.text(), who_, part).Read();
    }
    return {};
  }

  // The first part becomes the whole; copying it would cost as much as reading it.
  Status Merge(Part&& part, Part& whole) override {
    bool is_first = whole.pools.strings.size() <= 1;
    if (!is_first) {
      whole.Append(std::move(part));
      return {};
    }
    Diagnostics diagnostics = std::move(whole.diagnostics);
    diagnostics.Append(part.diagnostics);
    whole = std::move(part);
    whole.diagnostics = std::move(diagnostics);
    return {};
  }

  Status Finish(Part& whole) override {
    if (is_json_) json_.Finish(whole);
    return {};
  }

 private:
  static constexpr uint64_t kSmallDump = uint64_t{1} << 20;  // read at once

  Identity who_;
  uint64_t chunk_bytes_;
  bool is_json_ = false;
  ByteView whole_;  // of a small pickle
  JsonDump json_;
};

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<DumpReader>(context);
}

constexpr std::array<std::string_view, 5> kMakes = {"comm_dump", "comm_group", "comm_op",
                                                    "comm_state", "comm_status"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "flight_recorder",
               .sentence = "Flight Recorder dump: the last collectives of one rank, pickle or JSON",
               .example = "nccl_trace_rank_3",
               .makes = kMakes},
      .sniff = Sniff,
      .open = Open,
      .settle = Settle};
  return kImporter;
}

}  // namespace debrief::inputs::flight_recorder
