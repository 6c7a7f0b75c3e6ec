// The sandbox, in a process of its own: an importer that wants more than to read gets nothing.
#include "base/sandbox.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "inputs/importer.h"

namespace debrief {
namespace sandbox_test {

// What an importer that a hostile input took over would try.
class PlantedReader final : public Reader {
 public:
  Status Read(const Source&, ByteRange, Part&) const override {
    char* const words[] = {const_cast<char*>("/bin/false"), nullptr};
    started_program = !IsRefused(execve(words[0], words, environ)) ||
                      !IsRefused(syscall(SYS_execveat, -1, words[0], words, environ, 0));
    opened_socket = !IsRefused(socket(AF_INET, SOCK_STREAM, 0)) ||
                    !IsRefused(socket(AF_INET6, SOCK_DGRAM, 0)) ||
                    !IsRefused(socket(AF_UNIX, SOCK_STREAM, 0));
    std::thread([this] { opened_socket |= !IsRefused(socket(AF_INET, SOCK_STREAM, 0)); }).join();
    return {};
  }

  static bool IsRefused(int64_t result) { return result < 0 && errno == EPERM; }

  mutable bool started_program = true;
  mutable bool opened_socket = true;
};

// In the child: 0 refused, 1 not refused, 77 no sandbox here.
int RunPlanted() {
  if (!GiveUpProgramsAndNetwork()) return 77;
  PlantedReader reader;
  const auto source = MakeMemorySource("x");
  Part part;
  if (!reader.Read(*source, ByteRange{0, 1}, part).ok()) return 1;
  return reader.started_program || reader.opened_socket ? 1 : 0;
}

int CodeOfChild(int (*run)()) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Sandbox, APlantedImporterStartsNothingAndConnectsNowhere) {
  const int code = CodeOfChild(RunPlanted);
  if (code == 77) GTEST_SKIP() << "this kernel allows no filters";
  EXPECT_EQ(code, 0);
}

TEST(Sandbox, FilesAndPairsOfSocketsStay) {
  const int code = CodeOfChild([] {
    if (!GiveUpProgramsAndNetwork()) return 77;
    int pair[2];
    const bool works = socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && access("/", R_OK) == 0;
    return works && write(pair[0], "x", 1) == 1 && GiveUpProgramsAndNetwork() ? 0 : 1;
  });
  if (code == 77) GTEST_SKIP() << "this kernel allows no filters";
  EXPECT_EQ(code, 0);
}

}  // namespace sandbox_test
}  // namespace debrief
