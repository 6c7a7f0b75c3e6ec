// The files of a report as answers. Bytes are not read here: the answer holds the open file, and
// the server sends it piece by piece.
#pragma once

#include <string>

#include "base/status.h"
#include "serve/http.h"

namespace debrief::serve {

class ReportFiles {
 public:
  // kNotFound when `folder` is no report: it has no index.html.
  static Result<ReportFiles> Open(const std::string& folder);

  // `relative` is what SafeRelativePath() gave. 404 for what is not served, does not exist, is no
  // plain file, or is a link to something that is not served.
  Response Answer(const std::string& relative, const Request& request) const;

 private:
  ReportFiles(UniqueFd folder, std::string real_path)
      : folder_(std::move(folder)), real_path_(std::move(real_path)) {}

  UniqueFd folder_;
  std::string real_path_;  // without links
};

// By the end of the name.
std::string_view MimeType(std::string_view path);

}  // namespace debrief::serve
