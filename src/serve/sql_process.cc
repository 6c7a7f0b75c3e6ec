#include "serve/sql_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "outputs/store/duckdb_api.h"
#include "serve/sql_page.h"

namespace debrief::serve {

namespace {

// A question is one of these and the query of the address.
constexpr char kAskTables = 'T', kAskQuery = 'Q';
constexpr size_t kMaxQuestion = kMaxHeadBytes + 1;
constexpr size_t kMaxAnswer = 64 << 20;  // a page has 8 MiB, and few of its bytes become six

// Before the body of an answer, or with the file that is it.
struct AnswerHead {
  int32_t status;
  uint32_t has_file;
  int64_t bytes;  // of the body or the file
};

struct SocketPair {
  UniqueFd one, other;
};

Result<SocketPair> MakePair(int type) {
  int sockets[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets) != 0)
    return Status(Code::kIo, std::string("cannot make a socket: ") + std::strerror(errno));
  return SocketPair{UniqueFd(sockets[0]), UniqueFd(sockets[1])};
}

// A message with room for one descriptor.
struct Message {
  explicit Message(void* data, size_t size) : piece{data, size} {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Message(const Message&) = delete;

  iovec piece;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr header = {};
};

bool SendWith(int socket, const void* data, size_t size, int file) {
  Message message(const_cast<void*>(data), size);
  if (file < 0) {
    message.header.msg_controllen = 0;
  } else {
    cmsghdr* control = CMSG_FIRSTHDR(&message.header);
    *control = {
        .cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(control), &file, sizeof file);
  }
  return sendmsg(socket, &message.header, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// The bytes of one message; -1 when there is none.
ssize_t ReceiveWith(int socket, void* data, size_t size, UniqueFd& file) {
  Message message(data, size);
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  cmsghdr* control = got > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
    file = UniqueFd(descriptor);
  }
  return got;
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// ---- In the process of a query.

// The address sanitizer maps more than there is memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBoundsMemory = false;
#elif defined(__has_feature)
constexpr bool kBoundsMemory = !__has_feature(address_sanitizer);
#else
constexpr bool kBoundsMemory = true;
#endif

void Limit(int what, uint64_t most) {
  rlimit limit;
  if (getrlimit(what, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
  setrlimit(what, &limit);
}

// Ends the process when nobody waits for the answer any more, or its time is over: from a thread
// of its own, since a function of DuckDB may not look at its interrupt for minutes.
void WatchReader(int answer, int seconds) {
  std::thread([answer, seconds] {
    pollfd reader = {.fd = answer, .events = POLLRDHUP, .revents = 0};
    while (poll(&reader, 1, seconds * 1000) < 0 && errno == EINTR) continue;
    _exit(1);
  }).detach();
}

[[noreturn]] void AnswerOne(SqlApi& api, const SqlLimits& limits, std::string_view question,
                            int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  LimitQueryProcess(limits);
  WatchReader(answer, limits.seconds);
  CancelToken never;
  Request request;
  request.query = question.substr(1);
  Response response = question[0] == kAskTables ? api.Tables(never) : api.Query(request, never);
  const AnswerHead head = {response.status, response.file.valid(), response.BodyBytes()};
  if (SendWith(answer, &head, sizeof head, response.file.get())) SendAll(answer, response.body);
  _exit(0);
}

// ---- In the keeper.

[[noreturn]] void Keep(int questions, SqlApi& api, const SqlLimits& limits,
                       const std::function<void()>& confine) {
  confine();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGCHLD, SIG_IGN);  // nobody asks how they ended
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing.get(), standard);
  (void)outputs::store::LoadDuckDb();
  std::string question(kMaxQuestion, ' ');
  while (true) {
    UniqueFd answer;
    const ssize_t got = ReceiveWith(questions, question.data(), question.size(), answer);
    if (got <= 0) _exit(0);
    if (fork() == 0)
      AnswerOne(api, limits, std::string_view(question).substr(0, static_cast<size_t>(got)),
                answer.get());
  }
}

// ---- In the server.

// While it lives, cancelling the request ends its process.
class Waiting {
 public:
  Waiting(CancelToken& cancel, int socket) : cancel_(cancel) {
    cancel_.StopWith([socket] { shutdown(socket, SHUT_RDWR); });
  }
  Waiting(const Waiting&) = delete;
  ~Waiting() { cancel_.StopWith(nullptr); }

 private:
  CancelToken& cancel_;
};

std::optional<Response> ReadAnswer(int socket) {
  AnswerHead head;
  UniqueFd file;
  if (ReceiveWith(socket, &head, sizeof head, file) != sizeof head) return std::nullopt;
  if (head.has_file != 0) return CsvResponse(std::move(file), head.bytes);
  if (head.bytes < 0 || static_cast<uint64_t>(head.bytes) > kMaxAnswer) return std::nullopt;
  std::string body(static_cast<size_t>(head.bytes), ' ');
  for (size_t read = 0; read < body.size();) {
    ssize_t got = recv(socket, body.data() + read, body.size() - read, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    read += static_cast<size_t>(got);
  }
  return JsonResponse(head.status, std::move(body));
}

}  // namespace

void LimitQueryProcess(const SqlLimits& limits) {
  if (kBoundsMemory) Limit(RLIMIT_DATA, limits.memory_mb * 1'000'000);
  Limit(RLIMIT_CORE, 0);
}

Result<std::unique_ptr<SqlProcess>> SqlProcess::Start(SqlApi& api, const SqlLimits& limits,
                                                      const std::function<void()>& confine) {
  ASSIGN_OR_RETURN(SocketPair ends, MakePair(SOCK_SEQPACKET));
  const pid_t keeper = fork();
  if (keeper < 0)
    return Status(Code::kLimit, std::string("cannot start a process: ") + std::strerror(errno));
  if (keeper == 0) {
    ends.one = UniqueFd();
    Keep(ends.other.get(), api, limits, confine);
  }
  return std::unique_ptr<SqlProcess>(new SqlProcess(std::move(ends.one)));
}

Response SqlProcess::Ask(const std::string& question, CancelToken& cancel) {
  auto ends = MakePair(SOCK_STREAM);
  if (!ends.ok()) return ErrorResponse(ends.status());
  if (!SendWith(keeper_.get(), question.data(), question.size(), ends->other.get()))
    return ErrorResponse(Status(Code::kIo, "the process that runs queries has ended")
                             .Remedy("Start debrief serve again."));
  {
    const UniqueFd theirs = std::move(ends->other);
  }
  const Waiting waiting(cancel, ends->one.get());
  std::optional<Response> answer = cancel.cancelled() ? std::nullopt : ReadAnswer(ends->one.get());
  if (cancel.cancelled()) return ErrorResponse(GivenUp());
  if (answer) return std::move(*answer);
  return ErrorResponse(
      Status(Code::kLimit, "the query ended its process: it took more memory than it may")
          .Remedy("Ask for less, or run it with debrief query, which has no such limit."));
}

Response SqlProcess::Tables(CancelToken& cancel) {
  {
    std::lock_guard lock(mutex_);
    if (!tables_.empty()) return JsonResponse(200, tables_);
  }
  Response made = Ask(std::string(1, kAskTables), cancel);
  if (made.status != 200) return made;
  std::lock_guard lock(mutex_);
  tables_ = made.body;
  return made;
}

Response SqlProcess::Query(const Request& request, CancelToken& cancel) {
  return Ask(kAskQuery + request.query, cancel);
}

}  // namespace debrief::serve
