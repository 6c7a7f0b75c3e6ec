// Output "html": the report as index.html, one file that opens by double-click and can be sent on.
//
// It is written beside its place and then renamed, so that a reader never sees half a page and a
// full disk leaves the report of the run before untouched.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "outputs/html/page.h"
#include "outputs/output.h"

namespace debrief::outputs::html {

namespace {

constexpr std::string_view kFile = "index.html";

Status Failed(const char* what, const std::string& path) {
  const int error = errno;
  const std::string message = std::string(what) + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) {
    return Status(Code::kNoSpace, message)
        .At({.file = path})
        .Remedy("Free some space, or write elsewhere with -o.");
  }
  if (error == EACCES || error == EPERM || error == EROFS) {
    return Status(Code::kDenied, message).At({.file = path}).Remedy("Write elsewhere with -o.");
  }
  return Status(Code::kIo, message).At({.file = path});
}

Status WriteAll(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("cannot write the report", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return Status();
}

Status WriteNew(const std::string& path, std::string_view text) {
  // A left-over of a run that was killed is replaced; a link that someone put there is not
  // followed.
  ::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return Failed("cannot create the report", path);
  Status status = WriteAll(file, text, path);
  if (::close(file) != 0 && status.ok()) status = Failed("cannot write the report", path);
  return status;
}

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty()) return Status();
  const std::string path = context.folder + "/" + std::string(kFile);
  const std::string temporary = path + ".tmp";
  Status status = WriteNew(temporary, MakePage(model));
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = Failed("cannot put the report in place", path);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      .info = {.name = "html",
               .sentence = "the report: one page that opens offline in any browser",
               .file = kFile},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::html
