#include "app/confine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "app/terminal.h"
#include "base/bytes/unique_fd.h"
#include "base/sandbox.h"

namespace debrief {

namespace {

constexpr char kBrowser[] = "xdg-open";

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

UniqueFd& Helper() {
  static UniqueFd pipe;
  return pipe;
}

// In the helper: waits for a page; none comes when the pipe is closed.
[[noreturn]] void ShowPage(int pages) {
  std::string page(4096, '\0');
  ssize_t got = read(pages, page.data(), page.size() - 1);
  if (got <= 0) _exit(0);
  page.resize(static_cast<size_t>(got));
  execlp(kBrowser, kBrowser, page.c_str(), nullptr);
  _exit(1);
}

bool WriteAll(int file, std::string_view text) {
  return write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

void PrepareBrowser() {
  bool has_display = !Environment("DISPLAY").empty() || !Environment("WAYLAND_DISPLAY").empty();
  int ends[2];
  if (isatty(STDOUT_FILENO) == 0 || !has_display || pipe2(ends, O_CLOEXEC) != 0) return;
  const UniqueFd pages(ends[0]);
  Helper() = UniqueFd(ends[1]);
  if (fork() != 0) return;
  Helper() = UniqueFd();
  ShowPage(pages.get());
}

void OpenInBrowser(const std::string& page) {
  if (!Helper().valid()) return;
  (void)WriteAll(Helper().get(), page);
  Helper() = UniqueFd();
}

void Confine(const GlobalOptions& global) {
  if (!kSanitized && !global.no_sandbox) (void)GiveUpProgramsAndNetwork();
}

Result<RedirectPage> RedirectPage::Write(const std::string& folder, const std::string& address) {
  std::string path = folder + "/debrief-XXXXXX.html";
  const UniqueFd file(mkostemps(path.data(), 5, O_CLOEXEC));  // with mode 0600
  if (!file.valid())
    return Status(Code::kIo, fmt::format("cannot make a temporary file in {}", folder))
        .Remedy("Set TMPDIR to a folder that can be written.");
  RedirectPage page(std::move(path));
  if (!WriteAll(file.get(),
                fmt::format("<!doctype html><meta charset=\"utf-8\"><title>debrief</title>"
                            "<meta name=\"referrer\" content=\"no-referrer\">"
                            "<meta http-equiv=\"refresh\" content=\"0; url={}\">\n",
                            address)))
    return Status(Code::kNoSpace, "cannot write a temporary file").At({.file = page.path()});
  return page;
}

RedirectPage::~RedirectPage() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace debrief
