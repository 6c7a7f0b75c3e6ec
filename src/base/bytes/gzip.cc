#include "base/bytes/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.h"

namespace debrief {

namespace {

constexpr uint32_t kLevel = 1;  // of 0 to 3: a third smaller than 0 for text, a third faster than 2
constexpr size_t kFrame = 64;   // gzip's header and trailer, with room to spare
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Gzip(std::string_view bytes) {
  DEBRIEF_CHECK(bytes.size() <= std::numeric_limits<uint32_t>::max() / 2);
  std::vector<uint8_t> level_buffer(ISAL_DEF_LVL1_DEFAULT);
  // Bytes that cannot be packed are stored, with 5 bytes more for each block of 64 kB.
  std::string packed(bytes.size() + bytes.size() / 4096 + kFrame, '\0');
  isal_zstream stream{};  // zeros: init leaves fields as they were on which the bytes hang
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = kLevel;
  stream.level_buf = level_buffer.data();
  stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  stream.next_out = reinterpret_cast<uint8_t*>(packed.data());
  stream.avail_out = static_cast<uint32_t>(packed.size());
  DEBRIEF_CHECK(isal_deflate_stateless(&stream) == COMP_OK);
  packed.erase(packed.size() - stream.avail_out);
  return packed;
}

void AppendBase64(std::string& out, std::string_view bytes) {
  const size_t begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data() + begin;
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t three = (uint32_t{from[i]} << 16) | (uint32_t{from[i + 1]} << 8) | from[i + 2];
    *to++ = kBase64[three >> 18];
    *to++ = kBase64[(three >> 12) & 63];
    *to++ = kBase64[(three >> 6) & 63];
    *to++ = kBase64[three & 63];
  }
  if (i == bytes.size()) return;
  const bool two = i + 2 == bytes.size();
  const uint32_t rest = (uint32_t{from[i]} << 16) | (two ? uint32_t{from[i + 1]} << 8 : 0);
  *to++ = kBase64[rest >> 18];
  *to++ = kBase64[(rest >> 12) & 63];
  if (two) *to = kBase64[(rest >> 6) & 63];
}

Result<std::string> InflateZlib(std::string_view packed, size_t max_bytes) {
  if (packed.size() > std::numeric_limits<uint32_t>::max())
    return Status(Code::kLimit, "a block of zlib data of 4 GiB or more");
  const auto state = std::make_unique<inflate_state>();  // 90 KiB
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  state->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(packed.data()));
  state->avail_in = static_cast<uint32_t>(packed.size());
  std::string out;
  constexpr size_t kStep = 256 << 10;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    if (out.size() >= max_bytes) return Status(Code::kLimit, "zlib data expands too much");
    const size_t had = out.size();
    const uint32_t input_had = state->avail_in;
    out.resize(had + kStep);
    state->next_out = reinterpret_cast<uint8_t*>(out.data() + had);
    state->avail_out = static_cast<uint32_t>(kStep);
    const int code = isal_inflate(state.get());
    out.resize(had + kStep - state->avail_out);
    if (code < 0) return Status(Code::kInvalid, "broken zlib data");
    const bool stands_still = out.size() == had && state->avail_in == input_had;
    if (stands_still && state->block_state != ISAL_BLOCK_FINISH)
      return Status(Code::kTruncated, "zlib data ends early");
  }
  return out;
}

}  // namespace debrief
