#include "inputs/chakra/node_message.h"

#include <algorithm>
#include <iterator>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace debrief::inputs::chakra {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr size_t kMostDependencies = 4096;

// et_def.proto
enum NodeField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kType = 3,
  kControl = 4,
  kData = 5,
  kDuration = 7,
  kInputs = 8,
  kOutputs = 9,
  kAttribute = 10
};

std::string_view TextOf(pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

bool IsVarint(const pbf_reader& reader) { return reader.wire_type() == pbf_wire_type::varint; }
bool IsBytes(const pbf_reader& reader) {
  return reader.wire_type() == pbf_wire_type::length_delimited;
}

int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }

// One number, or many packed into one field.
void ReadNumbers(pbf_reader& reader, std::vector<int64_t>& numbers) {
  if (IsVarint(reader)) {
    if (numbers.size() < kMostDependencies) numbers.push_back(Signed(reader.get_uint64()));
    return;
  }
  if (!IsBytes(reader)) return reader.skip();
  for (const uint64_t value : reader.get_packed_uint64()) {
    if (numbers.size() < kMostDependencies) numbers.push_back(Signed(value));
  }
}

void ReadTensors(pbf_reader message, std::string_view& shapes, std::string_view& types) {
  while (message.next()) {
    if (message.tag() == 2 && IsBytes(message)) {
      shapes = TextOf(message);
    } else if (message.tag() == 3 && IsBytes(message)) {
      types = TextOf(message);
    } else {
      message.skip();
    }
  }
}

struct Attribute {
  std::string_view name;
  std::string_view text;
  int64_t number = kNone64;
};

// Values of all whole types lie in fields of their own: 7, 9, 11, 13 as they are, 15 and 17
// zigzag.
Attribute ReadAttribute(pbf_reader message) {
  constexpr protozero::pbf_tag_type kText = 29, kZigzag32 = 15, kZigzag64 = 17;
  Attribute attribute;
  while (message.next()) {
    const auto tag = message.tag();
    if (tag == 1 && IsBytes(message)) {
      attribute.name = TextOf(message);
    } else if (tag == kText && IsBytes(message)) {
      attribute.text = TextOf(message);
    } else if (IsVarint(message)) {
      const uint64_t value = message.get_uint64();
      const bool zigzag = tag == kZigzag32 || tag == kZigzag64;
      attribute.number = zigzag ? protozero::decode_zigzag64(value) : Signed(value);
    } else {
      message.skip();
    }
  }
  return attribute;
}

void AddAttribute(const Attribute& attribute, NodeMessage& node) {
  if (attribute.name == "comm_type") node.comm_type = attribute.number;
  if (attribute.name == "comm_size") node.comm_size = attribute.number;
  if (attribute.name == "rf_id") node.rf_id = attribute.number;
  if (attribute.name == "pg_size") node.group_size = attribute.number;
  if (attribute.name == "pg_name") node.group = attribute.text;
}

void ReadFields(pbf_reader reader, NodeMessage& node) {
  while (reader.next()) {
    const auto tag = reader.tag();
    if (tag == kControl) {
      ReadNumbers(reader, node.control);
    } else if (tag == kData) {
      ReadNumbers(reader, node.data);
    } else if (tag == kId && IsVarint(reader)) {
      node.id = Signed(reader.get_uint64());
    } else if (tag == kType && IsVarint(reader)) {
      node.type = static_cast<int>(reader.get_uint64() & 0xFF);
    } else if (tag == kDuration && IsVarint(reader)) {
      node.duration_us = Signed(reader.get_uint64());
    } else if (tag == kName && IsBytes(reader)) {
      node.name = TextOf(reader);
    } else if (tag == kInputs && IsBytes(reader)) {
      ReadTensors(reader.get_message(), node.input_shapes, node.input_types);
    } else if (tag == kOutputs && IsBytes(reader)) {
      ReadTensors(reader.get_message(), node.output_shapes, node.output_types);
    } else if (tag == kAttribute && IsBytes(reader)) {
      AddAttribute(ReadAttribute(reader.get_message()), node);
    } else {
      reader.skip();
    }
  }
}

}  // namespace

Framed ReadLength(std::string_view bytes) {
  constexpr size_t kLongest = 5;  // a message has less than 32 GiB
  uint64_t size = 0;
  for (size_t i = 0; i < std::min(bytes.size(), kLongest); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    size |= uint64_t{byte & 0x7FU} << 7 * i;
    if ((byte & 0x80U) == 0) return {i + 1, size};
  }
  return {};
}

bool ReadNode(std::string_view message, NodeMessage& node) {
  try {
    ReadFields(pbf_reader(message.data(), message.size()), node);
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

bool ReadMetadata(std::string_view message, std::string_view& version) {
  try {
    pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      const bool known = (reader.tag() == 1 || reader.tag() == 2) && IsBytes(reader);
      if (!known) return false;
      if (reader.tag() == 1) {
        version = TextOf(reader);
      } else {
        (void)ReadAttribute(reader.get_message());
      }
    }
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

std::string_view NodeTypeName(int type) {
  constexpr std::string_view kNames[] = {"",        "metadata", "load",      "store",
                                         "compute", "send",     "recv",      "collective",
                                         "storage", "batch",    "checkpoint"};
  return type < 0 || static_cast<size_t>(type) >= std::size(kNames) ? "" : kNames[type];
}

std::string_view CollectiveName(int64_t type) {
  constexpr std::string_view kNames[] = {"allreduce", "reduce",         "allgather",
                                         "gather",    "scatter",        "broadcast",
                                         "alltoall",  "reduce_scatter", "reduce_scatter_block",
                                         "barrier"};
  return type < 0 || static_cast<size_t>(type) >= std::size(kNames) ? "" : kNames[type];
}

}  // namespace debrief::inputs::chakra
