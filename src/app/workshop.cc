#include "app/workshop.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/folders/output_folder.h"
#include "base/bytes/output_names.h"

namespace debrief {

Workshop::~Workshop() {
  std::error_code ignored;
  if (!folder_.path().empty()) std::filesystem::remove_all(folder_.path(), ignored);
}

Status Workshop::Open(const std::string& result) {
  Unfinished folder(UnfinishedPath(result));
  if (mkdir(folder.path().c_str(), 0777) != 0) {
    return Status(Code::kIo, fmt::format("cannot write: {}", std::strerror(errno)))
        .At({.file = result});
  }
  folder_ = std::move(folder);
  ASSIGN_OR_RETURN(lock_, MarkUnfinished(folder_.path()));
  return {};
}

std::string Workshop::File(std::string_view name) const {
  return fmt::format("{}/{}", folder_.path(), name);
}

}  // namespace debrief
