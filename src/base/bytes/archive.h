// Walking through tar and zip archives as a stream: nothing is ever extracted by name.
//
// Zip archives are read from the front, member by member, not through the directory at their end,
// so that a cut archive, or one from a pipe, gives what it has. The price: bytes between two
// members are passed over in silence, and a member that was deleted only from the directory shows
// up.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes/byte_stream.h"
#include "base/bytes/decompress.h"
#include "base/status.h"

namespace debrief {

struct ArchiveMember {
  enum class Type : uint8_t { kFile, kDirectory, kLink, kOther };

  std::string name;   // bytes as they stand in the archive, not sanitised, not always UTF-8
  int64_t size = -1;  // -1 when the archive does not say it in front of the body
  Type type = Type::kFile;
  bool unsafe_name = false;  // absolute, or with a ".." part
};

struct ArchiveLimits {
  uint64_t max_members = 1'000'000;
  ExpansionLimits expansion;  // all bodies read, against the bytes of the archive read so far
};

// True for the first 512 bytes of a tar, the first four of a zip.
bool LooksLikeArchive(std::string_view head);

// Calls `visit` for every member in order; it reads as much of `body` as it likes, and `body` is
// dead when it returns. Filters (.tar.gz) are the caller's: pass in a Decompress() stream.
//
// Trouble in a body is what body.Read returns: kTruncated or kInvalid after its good bytes,
// kUnsupported for an encrypted member, kLimit. A member that alone is bad does not end the walk.
// What ends it is returned: a Status of `visit`, of `in`, a broken or cut archive, a limit.
Status WalkArchive(ByteStream& in, const ArchiveLimits& limits,
                   const std::function<Status(const ArchiveMember&, ByteStream& body)>& visit);

}  // namespace debrief
