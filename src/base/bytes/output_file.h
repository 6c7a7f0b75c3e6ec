// A file that grows under a temporary name (growing_file.h), packed as gzip when its name ends in
// ".gz".
//
//   ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create("trace.json.gz"));
//   TRY(file.Append(piece));
//   TRY(file.Finish());
//
// Memory: 0.5 MiB of buffers, and 0.3 MiB for packing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes/growing_file.h"
#include "base/status.h"

namespace debrief {

class OutputFile {
 public:
  static Result<OutputFile> Create(std::string path);
  OutputFile(OutputFile&& other) noexcept;
  ~OutputFile();

  Status Append(std::string_view piece);
  Status Finish();

 private:
  struct Packer;
  OutputFile(GrowingFile file, std::unique_ptr<Packer> packer);
  Status Flush();
  Status Pack(bool is_last);

  GrowingFile file_;
  std::unique_ptr<Packer> packer_;  // null: not packed
  std::string buffer_;
};

}  // namespace debrief
