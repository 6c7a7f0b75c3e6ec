#include "model/trace_events/args.h"

#include <array>
#include <charconv>
#include <iterator>

#include "base/text/strings.h"

namespace debrief::trace_events {

namespace {

int64_t IntOf(JsonValue value) { return value.IntOrText().value_or(kNone64); }

std::string_view TextOf(JsonValue value) {
  if (auto text = value.String()) return *text;
  return value.Raw().value_or(std::string_view());
}

// Decimal or hexadecimal, as a text or as a number; none when it is neither or negative.
int64_t CounterOf(JsonValue value) {
  std::string_view text = TextOf(value);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
  // Counters have 32 bits; those that a tool has made continuous have some more.
  constexpr uint64_t kMost = uint64_t{1} << 48;
  const auto number = ParseNumber<uint64_t>(text, base);
  return number && *number <= kMost ? static_cast<int64_t>(*number) : kNone64;
}

// A field that has a column.
struct Field {
  std::string_view key;
  bool Args::* tells;             // that there is such a row; null: not by itself
  std::string_view Args::* text;  // null: a number
  int64_t Args::* number = nullptr;
  int64_t (*read)(JsonValue) = nullptr;
};

constexpr Field Text(std::string_view key, std::string_view Args::* to,
                     bool Args::* tells = nullptr) {
  return {key, tells, to};
}

constexpr Field Number(std::string_view key, int64_t Args::* to, bool Args::* tells = nullptr,
                       int64_t (*read)(JsonValue) = IntOf) {
  return {key, tells, nullptr, to, read};
}

// Sorted by key.
constexpr Field kFields[] = {
    Number("Addr", &Args::address),
    Number("Bytes", &Args::memory_bytes),
    Text("Collective name", &Args::collective, &Args::has_collective),
    Text("CollGroup", &Args::coll_group),
    Text("Comms Id", &Args::comms_id),
    Text("Concrete Inputs", &Args::concrete),
    Number("Device Id", &Args::memory_device),
    Number("Device Type", &Args::device_type),
    Number("Dst Rank", &Args::peer),
    Number("External Id", &Args::external_id),
    Number("External id", &Args::external_id),
    Number("Fwd thread id", &Args::forward_thread),
    Number("Group size", &Args::group_size),
    Number("In msg nelems", &Args::in_elements),
    Text("In split size", &Args::in_split),
    Text("Input Dims", &Args::shapes, &Args::has_op),
    Text("Input Strides", &Args::strides),
    Text("Input dims", &Args::shapes, &Args::has_op),
    Text("Input type", &Args::dtypes, &Args::has_op),
    Text("Module Hierarchy", &Args::module, &Args::has_op),
    Number("Out msg nelems", &Args::out_elements),
    Text("Out split size", &Args::out_split),
    Text("Peer", &Args::peers),
    Text("Peers", &Args::peers),
    Number("Power", &Args::power, nullptr, CounterOf),
    Text("Process Group Description", &Args::group_desc),
    Text("Process Group Name", &Args::group_name),
    Text("Process Group Ranks", &Args::group_ranks),
    Number("Record function id", &Args::record_function),
    Number("Seq", &Args::seq),
    Number("Sequence number", &Args::sequence, &Args::has_op),
    Number("Src Rank", &Args::peer),
    Number("Total Allocated", &Args::allocated_bytes),
    Number("Total Reserved", &Args::reserved_bytes),
    Text("Type", &Args::transfer_type),
    Text("block", &Args::block),
    Number("bytes", &Args::bytes, &Args::has_work),
    Number("context", &Args::context, &Args::has_work),
    Number("correlation", &Args::correlation),
    Number("device", &Args::device, &Args::has_work),
    Text("dtype", &Args::dtype),
    Number("external id", &Args::external_id),
    Number("graph id", &Args::graph, &Args::has_work),
    Number("graph node id", &Args::graph_node, &Args::has_work),
    Text("grid", &Args::grid),
    Text("kernel_file", &Args::kernel_file, &Args::has_op),
    Text("kernel_hash", &Args::kernel_hash, &Args::has_op),
    Text("labels", &Args::labels),
    Number("mb_id", &Args::microbatch),
    Number("model_chunk", &Args::chunk, &Args::has_stage),
    Text("name", &Args::name),
    Number("registers per thread", &Args::registers, &Args::has_work),
    Number("seq_id", &Args::op_seq),
    Number("shared memory", &Args::shared_bytes, &Args::has_work),
    Number("sort_index", &Args::sort_index),
    Number("step", &Args::step),
    Number("stream", &Args::stream, &Args::has_work),
    Number("wait_on_cuda_event_record_corr_id", &Args::wait_correlation, &Args::has_work),
    Number("wait_on_stream", &Args::wait_stream, &Args::has_work),
};

// Where the fields of each first letter begin: a million events have ten fields each, and most
// fields have no column.
constexpr auto kFirstOf = [] {
  std::array<uint8_t, 129> first = {};
  for (size_t letter = 0; letter < first.size(); ++letter) {
    while (first[letter] < std::size(kFields) &&
           static_cast<size_t>(kFields[first[letter]].key[0]) < letter)
      ++first[letter];
  }
  return first;
}();

}  // namespace

void ReadArg(std::string_view key, JsonValue value, Args& args) {
  const auto letter = key.empty() ? size_t{0} : static_cast<unsigned char>(key[0]);
  if (letter >= 128) return;
  for (size_t i = kFirstOf[letter]; i < kFirstOf[letter + 1]; ++i) {
    const Field& field = kFields[i];
    if (field.key != key) continue;
    if (field.text != nullptr) {
      args.*field.text = TextOf(value);
    } else {
      args.*field.number = field.read(value);
    }
    const bool is_told = field.text == nullptr || !(args.*field.text).empty();
    if (field.tells != nullptr && is_told) args.*field.tells = true;
    return;
  }
  if (key.size() == 3 && key.starts_with("TS") && key[2] >= '1' && key[2] <= '5') {
    args.stamps[static_cast<size_t>(key[2] - '1')] = CounterOf(value);
    args.has_stamps = true;
  }
  if (key == "est. achieved occupancy %") args.occupancy_pct = value.Double().value_or(kNoDouble);
}

int64_t ProductOf(std::string_view list) {
  if (list.empty()) return kNone64;
  int64_t product = 1;
  const char* at = list.data();
  const char* end = at + list.size();
  while (at < end) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    const bool is_between = std::string_view("[], \t\r\n").find(*at) != std::string_view::npos;
    if (error != std::errc() && !is_between) return 0;
    if (error == std::errc() && __builtin_mul_overflow(product, number, &product)) return 0;
    at = error == std::errc() ? next : at + 1;
  }
  return product;
}

std::vector<int64_t> NumbersIn(std::string_view text) {
  std::vector<int64_t> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int64_t number = 0;
    auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = next > at ? next : at + 1;
  }
  return numbers;
}

}  // namespace debrief::trace_events
