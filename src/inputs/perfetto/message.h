// What the readers of protobuf messages share. Only files that are compiled with exceptions may
// include it: protozero throws when a message is broken.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "inputs/perfetto/packet.h"
#include "model/timeline/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace fields = debrief::perfetto;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Cases of a switch over tag_and_type(): a field with another wire type than it should have falls
// through to default and is skipped.
template <typename Field>
constexpr uint32_t Tagged(Field field, pbf_wire_type type) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), type);
}
template <typename Field>
constexpr uint32_t Varint(Field field) {
  return Tagged(field, pbf_wire_type::varint);
}
template <typename Field>
constexpr uint32_t Bytes(Field field) {
  return Tagged(field, pbf_wire_type::length_delimited);
}
template <typename Field>
constexpr uint32_t Fixed64(Field field) {
  return Tagged(field, pbf_wire_type::fixed64);
}

inline std::string_view TextOf(pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

// Repeated numbers may be packed into one field.
template <typename Range, typename Add>
void ForEach(const Range& range, Add add) {
  for (auto value : range) add(value);
}

// A TrackEvent (event_message.cc).
void ReadEvent(pbf_reader reader, Event& event);

}  // namespace debrief::inputs::perfetto
