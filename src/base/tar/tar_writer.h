// Writes a tar archive as a stream, packed as its name says (.tar.zst, .tar.gz, .tar).
//
//   ASSIGN_OR_RETURN(TarWriter tar, TarWriter::Create("job.tar.zst"));
//   TRY(tar.BeginFile("logs/rank0.log", 5));
//   TRY(tar.Append("hello"));
//   TRY(tar.Finish());
//
// The file has its name when it is whole (growing_file.h). Members have no owner and no time: the
// same content gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

class TarWriter {
 public:
  static Result<TarWriter> Create(const std::string& path);
  TarWriter(TarWriter&& other) noexcept;
  ~TarWriter();

  // The next `size` bytes that are appended are this member.
  Status BeginFile(const std::string& name, uint64_t size);
  Status Append(std::string_view bytes);
  Status Finish();

 private:
  struct State;
  explicit TarWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace debrief
