// How messages of Perfetto are read: a list of the fields that are of use, each with the place its
// value goes to. Only files that are compiled with exceptions may include it: protozero throws when
// a message is broken.
//
//   ReadMessage(reader, Number(F::kPid, thread.pid), Text(F::kName, thread.name));
//
// A field of the list looks at the tag: it takes the value when the field and its wire type are its
// own. What nobody takes is skipped, a field with another wire type than it should have included.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "inputs/perfetto/packet.h"
#include "model/timeline/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace fields = debrief::perfetto;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

template <typename... Fields>
void ReadMessage(pbf_reader reader, const Fields&... known) {
  while (reader.next()) {
    const uint32_t tag = reader.tag_and_type();
    if (!(known(tag, reader) || ...)) reader.skip();
  }
}

// Calls take(reader) for a field of this wire type.
template <typename Field, typename Take>
auto OnField(Field field, pbf_wire_type type, Take take) {
  const uint32_t own = protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), type);
  return [own, take](uint32_t tag, pbf_reader& reader) {
    if (tag == own) take(reader);
    return tag == own;
  };
}

template <typename Field, typename Take>
auto OnMessage(Field field, Take take) {
  return OnField(field, pbf_wire_type::length_delimited,
                 [take](pbf_reader& reader) { take(reader.get_message()); });
}

template <typename Field, typename T>
auto Number(Field field, T& to) {
  return OnField(field, pbf_wire_type::varint,
                 [&to](pbf_reader& reader) { to = static_cast<T>(reader.get_uint64()); });
}
template <typename Field, typename T>
auto Number(Field field, std::optional<T>& to) {
  return OnField(field, pbf_wire_type::varint,
                 [&to](pbf_reader& reader) { to = static_cast<T>(reader.get_uint64()); });
}

template <typename Field, typename T>
auto Real(Field field, T& to) {
  return OnField(field, pbf_wire_type::fixed64,
                 [&to](pbf_reader& reader) { to = reader.get_double(); });
}

// Calls add(text) for each.
template <typename Field, typename Add>
auto Texts(Field field, Add add) {
  return OnField(field, pbf_wire_type::length_delimited, [add](pbf_reader& reader) {
    const auto view = reader.get_view();
    add(std::string_view(view.data(), view.size()));
  });
}
template <typename Field>
auto Text(Field field, std::string_view& to) {
  return Texts(field, [&to](std::string_view text) { to = text; });
}

// Repeated numbers, which may be packed into one field; add(value) is called for each.
template <typename Field, typename Add>
auto Numbers(Field field, Add add) {
  const auto one = OnField(field, pbf_wire_type::varint,
                           [add](pbf_reader& reader) { add(reader.get_uint64()); });
  const auto many = OnField(field, pbf_wire_type::length_delimited, [add](pbf_reader& reader) {
    for (const uint64_t value : reader.get_packed_uint64()) add(value);
  });
  return [=](uint32_t tag, pbf_reader& reader) { return one(tag, reader) || many(tag, reader); };
}

// The same for numbers of eight bytes: uint64_t or double.
template <typename T, typename Field, typename Add>
auto WideNumbers(Field field, Add add) {
  const auto one = OnField(field, pbf_wire_type::fixed64, [add](pbf_reader& reader) {
    add(std::bit_cast<T>(reader.get_fixed64()));
  });
  const auto many = OnField(field, pbf_wire_type::length_delimited, [add](pbf_reader& reader) {
    for (const uint64_t value : reader.get_packed_fixed64()) add(std::bit_cast<T>(value));
  });
  return [=](uint32_t tag, pbf_reader& reader) { return one(tag, reader) || many(tag, reader); };
}

// A TrackEvent (event_message.cc).
void ReadEvent(pbf_reader reader, Event& event);

}  // namespace debrief::inputs::perfetto
