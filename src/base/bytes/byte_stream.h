// Bytes that come once, in order, with an end that is not known before: stdin, the output of a
// decompressor, a member of an archive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief {

// One thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Puts at most `capacity` (> 0) bytes at `out` and returns how many; fewer than asked for do not
  // mean the end, 0 does. What is good comes before what is wrong: an error is returned only when
  // no byte before it is left. After the end or an error, every Read returns the same again.
  virtual Result<size_t> Read(char* out, size_t capacity) = 0;

  // As Read, into a buffer that is made for them; or where they lie already. Defined here: a
  // virtual function in a file of ours would be the home of the type's RTTI, which core has none of
  // and programs that derive from it ask for.
  virtual Result<ByteView> ReadView(size_t capacity) { return ReadIntoBuffer(capacity); }

 protected:
  Result<ByteView> ReadIntoBuffer(size_t capacity);
};

// The source must outlive the stream.
std::unique_ptr<ByteStream> MakeSourceStream(const Source& source);

// The descriptor stays open and belongs to the caller. Waits when it is a slow one (terminal,
// pipe).
std::unique_ptr<ByteStream> MakeFdStream(int fd);

// `prefix`, then the rest of `in`: for a stream whose head was read to find out what it is. The
// second form borrows `in`, which must outlive the stream.
std::unique_ptr<ByteStream> MakePrefixedStream(std::string prefix, std::unique_ptr<ByteStream> in);
std::unique_ptr<ByteStream> MakePrefixedStream(std::string prefix, ByteStream& in);

// The next `bytes` bytes, fewer when the stream ends before or goes wrong. A Status only when there
// is not a single byte before it; an error after some bytes comes back with the next Read.
Result<ByteView> ViewHead(ByteStream& in, size_t bytes);
Result<std::string> ReadHead(ByteStream& in, size_t bytes);

}  // namespace debrief
