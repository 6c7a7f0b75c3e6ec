// A file without a name for what must be counted before it is written elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief::bundle {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder);

  // Empties it.
  Status Clear();
  Status Append(std::string_view bytes);
  uint64_t size() const { return size_; }
  // All of it, piece by piece.
  Status ForEachPiece(const std::function<Status(std::string_view)>& piece) const;

 private:
  Status Failed(int error) const;

  std::string folder_;
  UniqueFd file_;
  uint64_t size_ = 0;
};

}  // namespace debrief::bundle
