#include "model/trace_events/args.h"

#include <charconv>

namespace debrief::trace_events {

namespace {

int64_t IntOf(JsonValue value) { return value.IntOrText().value_or(kNone64); }

std::string_view TextOf(JsonValue value) {
  if (auto text = value.String()) return *text;
  return value.Raw().value_or(std::string_view());
}

int64_t ProductOf(JsonValue value) {
  int64_t product = 1;
  (void)value.ForEachElement([&](JsonValue element) {
    int64_t number = element.Int().value_or(0);
    if (__builtin_mul_overflow(product, number, &product)) product = 0;
  });
  return product;
}

void ReadWork(std::string_view key, JsonValue value, Args& args) {
  auto take = [&](int64_t& column) {
    column = IntOf(value);
    args.has_work = true;
  };
  if (key == "stream") return take(args.stream);
  if (key == "device") return take(args.device);
  if (key == "context") return take(args.context);
  if (key == "bytes") return take(args.bytes);
  if (key == "registers per thread") return take(args.registers);
  if (key == "shared memory") return take(args.shared_bytes);
  if (key == "grid") args.blocks = ProductOf(value);
  if (key == "block") args.threads = ProductOf(value);
  if (key == "est. achieved occupancy %") args.occupancy_pct = value.Double().value_or(kNoDouble);
  if (key == "graph id") return take(args.graph);
  if (key == "graph node id") return take(args.graph_node);
  if (key == "wait_on_stream") return take(args.wait_stream);
  if (key == "wait_on_cuda_event_record_corr_id") return take(args.wait_correlation);
}

void ReadOp(std::string_view key, JsonValue value, Args& args) {
  auto take = [&](std::string_view& column) {
    column = TextOf(value);
    args.has_op |= !column.empty();
  };
  if (key == "Input Dims" || key == "Input dims") return take(args.shapes);
  if (key == "Input type") return take(args.dtypes);
  if (key == "kernel_file") return take(args.kernel_file);
  if (key == "kernel_hash") return take(args.kernel_hash);
  if (key == "Module Hierarchy") return take(args.module);
  if (key == "Sequence number") {
    args.sequence = IntOf(value);
    args.has_op = true;
  }
  if (key == "Fwd thread id") args.forward_thread = IntOf(value);
}

void ReadCollective(std::string_view key, JsonValue value, Args& args) {
  if (key == "Collective name") {
    args.collective = TextOf(value);
    args.has_collective = true;
  }
  if (key == "Process Group Name") args.group_name = TextOf(value);
  if (key == "Process Group Description") args.group_desc = TextOf(value);
  if (key == "Process Group Ranks") args.group_ranks = TextOf(value);
  if (key == "Group size") args.group_size = IntOf(value);
  if (key == "dtype") args.dtype = TextOf(value);
  if (key == "In msg nelems") args.in_elements = IntOf(value);
  if (key == "Out msg nelems") args.out_elements = IntOf(value);
  if (key == "In split size") args.in_split = TextOf(value);
  if (key == "Out split size") args.out_split = TextOf(value);
  if (key == "Dst Rank" || key == "Src Rank") args.peer = IntOf(value);
  if (key == "Seq") args.seq = IntOf(value);
  if (key == "Comms Id") args.comms_id = TextOf(value);
}

void ReadMemory(std::string_view key, JsonValue value, Args& args) {
  if (key == "Addr") args.address = IntOf(value);
  if (key == "Bytes") args.memory_bytes = IntOf(value);
  if (key == "Total Allocated") args.allocated_bytes = IntOf(value);
  if (key == "Total Reserved") args.reserved_bytes = IntOf(value);
  if (key == "Device Type") args.device_type = IntOf(value);
  if (key == "Device Id") args.memory_device = IntOf(value);
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
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || number > kMost) return kNone64;
  return static_cast<int64_t>(number);
}

void ReadStamps(std::string_view key, JsonValue value, Args& args) {
  if (key.size() == 3 && key.starts_with("TS") && key[2] >= '1' && key[2] <= '5') {
    args.stamps[static_cast<size_t>(key[2] - '1')] = CounterOf(value);
    args.has_stamps = true;
  }
  if (key == "Power") args.power = CounterOf(value);
  if (key == "CollGroup") args.coll_group = TextOf(value);
  if (key == "Peer" || key == "Peers") args.peers = TextOf(value);
  if (key == "Type") args.transfer_type = TextOf(value);
}

void ReadMetadata(std::string_view key, JsonValue value, Args& args) {
  if (key == "name") args.name = TextOf(value);
  if (key == "labels") args.labels = TextOf(value);
  if (key == "sort_index") args.sort_index = IntOf(value);
}

}  // namespace

// By the first letter: a million events have ten fields each, and most fields have no column.
void ReadArg(std::string_view key, JsonValue value, Args& args) {
  if (key.empty()) return;
  switch (key[0]) {
    case 'E':
      if (key == "External id" || key == "External Id") args.external_id = IntOf(value);
      return;
    case 'e':
      if (key == "external id") args.external_id = IntOf(value);
      return ReadWork(key, value, args);
    case 'c':
      if (key == "correlation") args.correlation = IntOf(value);
      return ReadWork(key, value, args);
    case 's':
    case 'b':
    case 'r':
    case 'g':
    case 'w':
      if (key == "sort_index") ReadMetadata(key, value, args);
      return ReadWork(key, value, args);
    case 'd':
      if (key == "dtype") ReadCollective(key, value, args);
      return ReadWork(key, value, args);
    case 'k':
    case 'F':
    case 'M':
      return ReadOp(key, value, args);
    case 'I':
      if (key.starts_with("In ")) return ReadCollective(key, value, args);
      return ReadOp(key, value, args);
    case 'S':
      if (key == "Sequence number") return ReadOp(key, value, args);
      return ReadCollective(key, value, args);
    case 'D':
      if (key == "Dst Rank") return ReadCollective(key, value, args);
      return ReadMemory(key, value, args);
    case 'C':
    case 'P':
      if (key == "CollGroup" || key.starts_with("Peer") || key == "Power")
        return ReadStamps(key, value, args);
      return ReadCollective(key, value, args);
    case 'G':
    case 'O':
      return ReadCollective(key, value, args);
    case 'T':
      if (key.starts_with("TS") || key == "Type") return ReadStamps(key, value, args);
      return ReadMemory(key, value, args);
    case 'A':
    case 'B':
      return ReadMemory(key, value, args);
    case 'n':
    case 'l':
      return ReadMetadata(key, value, args);
    default:
      return;
  }
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
