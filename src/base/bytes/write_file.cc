#include "base/bytes/write_file.h"

#include "base/bytes/growing_file.h"

namespace debrief {

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  TRY(file.Append(content));
  return file.Finish();
}

}  // namespace debrief
