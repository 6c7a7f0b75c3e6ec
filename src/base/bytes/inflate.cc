#include "base/bytes/inflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace debrief {

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
