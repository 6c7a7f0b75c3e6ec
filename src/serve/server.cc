#include "serve/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/connection.h"

namespace debrief::serve {

namespace {

constexpr int kBacklog = 4096;  // the system cuts it to what it allows
constexpr int kTickMs = 250;    // how often time limits are looked at
// Numbers of connections begin above these.
constexpr uint64_t kListener = 0, kStop = 1, kAnswers = 2;

Status SystemError(std::string_view what) {
  Code code = errno == EACCES ? Code::kDenied : Code::kIo;
  return Status(code, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

// Descriptors this process may have; each connection takes one, and one more while a file is sent.
size_t ConnectionsFor(size_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  constexpr size_t kOthers = 64;
  size_t files = limit.rlim_cur > kOthers * 2 ? limit.rlim_cur - kOthers : kOthers;
  return std::min(wanted, files / 2);
}

// An answer on its way from a worker to the waiting thread.
struct Answer {
  uint64_t connection;
  Response response;
};

// Written by workers, read by the waiting thread.
class Answers {
 public:
  Answers() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  int event() const { return event_.get(); }

  void Put(Answer answer) {
    {
      std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    uint64_t one = 1;
    [[maybe_unused]] ssize_t written = write(event_.get(), &one, sizeof one);
  }

  std::vector<Answer> Take() {
    uint64_t count = 0;
    [[maybe_unused]] ssize_t got = read(event_.get(), &count, sizeof count);
    std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }

 private:
  UniqueFd event_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

// Threads that take tasks from a queue, in order.
class Workers {
 public:
  explicit Workers(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }

  // Waits for the tasks that have begun; the others are dropped.
  ~Workers() { Drop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Add(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

  // No task begins any more.
  void Drop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      tasks_.clear();
    }
    wake_.notify_all();
  }

 private:
  void Work() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

// A slow request's moment of beginning, set by its worker; 0: it waits for its turn.
using Begun = std::atomic<int64_t>;

class Server {
 public:
  Server(UniqueFd listener, int stop, Handler& handler, const Clock& clock,
         const ServerLimits& limits)
      : listener_(std::move(listener)),
        stop_(stop),
        handler_(handler),
        clock_(clock),
        limits_(limits),
        most_(ConnectionsFor(limits.connections)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        quick_(limits.quick_threads),
        slow_(limits.slow_threads) {}

  ~Server() {
    for (auto& [number, open] : connections_) Abandon(open);
    quick_.Drop();
    slow_.Drop();
    while (CancelAbandoned()) poll(nullptr, 0, 10);
  }

  Status Run() {
    if (!epoll_.valid() || answers_.event() < 0) return SystemError("wait for connections");
    if (!Watch(listener_.get(), kListener, EPOLLIN, EPOLL_CTL_ADD) ||
        !Watch(stop_, kStop, EPOLLIN, EPOLL_CTL_ADD) ||
        !Watch(answers_.event(), kAnswers, EPOLLIN, EPOLL_CTL_ADD))
      return SystemError("wait for connections");
    std::array<epoll_event, 256> events;
    while (!stopping_) {
      int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kTickMs);
      if (count < 0 && errno != EINTR) return SystemError("wait for connections");
      for (int i = 0; i < count; ++i) Handle(events[static_cast<size_t>(i)]);
      CheckTimes();
    }
    return {};
  }

 private:
  struct Open {
    std::unique_ptr<Connection> connection;
    std::shared_ptr<Begun> begun;
    uint32_t events = 0;  // that epoll waits for
  };

  // Nobody waits for its answer any more.
  void Abandon(Open& open) {
    std::shared_ptr<CancelToken> token = std::exchange(open.connection->cancel, nullptr);
    if (!token) return;
    token->Cancel();
    abandoned_.push_back(token);
  }

  // Repeats what a query may have missed; whether any still runs.
  bool CancelAbandoned() {
    std::erase_if(abandoned_, [](const auto& token) { return token.expired(); });
    for (const auto& token : abandoned_) {
      if (auto alive = token.lock()) alive->Cancel();
    }
    return !abandoned_.empty();
  }

  bool Watch(int file, uint64_t number, uint32_t events, int how) {
    epoll_event event{.events = events, .data = {.u64 = number}};
    return epoll_ctl(epoll_.get(), how, file, &event) == 0;
  }

  void Handle(const epoll_event& event) {
    uint64_t number = event.data.u64;
    if (number == kListener) return Accept();
    if (number == kStop) return void(stopping_ = true);
    if (number == kAnswers) return TakeAnswers();
    auto found = connections_.find(number);
    if (found == connections_.end()) return;
    Open& open = found->second;
    Connection& connection = *open.connection;
    int64_t now = clock_.NowNs();
    if (connection.state() == Connection::State::kReading) {
      connection.Receive(now);
    } else if (connection.state() == Connection::State::kWriting) {
      if ((event.events & (EPOLLERR | EPOLLHUP)) != 0)
        connection.Close();
      else
        connection.Send(now);
    } else if ((event.events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) {
      connection.Close();  // the reader left; nobody waits for the answer
    }
    Settle(number);
  }

  void Accept() {
    constexpr int kAtOnce = 64;
    for (int i = 0; i < kAtOnce && connections_.size() < most_; ++i) {
      UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      // Out of descriptors: tried again at the next tick.
      if (!socket.valid() && (errno == EMFILE || errno == ENFILE)) return SetListening(false);
      if (!socket.valid()) return;
      int yes = 1;
      setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      uint64_t number = next_++;
      if (!Watch(socket.get(), number, EPOLLIN, EPOLL_CTL_ADD)) continue;
      connections_[number] = {
          std::make_unique<Connection>(std::move(socket), number, clock_.NowNs()), nullptr,
          EPOLLIN};
    }
    if (connections_.size() >= most_) SetListening(false);
  }

  void SetListening(bool on) {
    if (on == listening_) return;
    listening_ = on;
    Watch(listener_.get(), kListener, on ? uint32_t{EPOLLIN} : 0, EPOLL_CTL_MOD);
  }

  void Dispatch(Open& open) {
    Connection& connection = *open.connection;
    auto request = std::make_shared<Request>(connection.request());
    auto cancel = connection.cancel = std::make_shared<CancelToken>();
    auto begun = open.begun = std::make_shared<Begun>(0);
    connection.is_slow = handler_.IsSlow(*request);
    Workers& workers = connection.is_slow ? slow_ : quick_;
    workers.Add([this, request, cancel, begun, number = connection.number()] {
      if (cancel->cancelled()) return;
      *begun = clock_.NowNs();
      answers_.Put({number, handler_.Answer(*request, *cancel)});
    });
  }

  void TakeAnswers() {
    for (Answer& answer : answers_.Take()) {
      auto found = connections_.find(answer.connection);
      if (found == connections_.end()) continue;  // the reader left meanwhile
      found->second.connection->cancel = nullptr;
      found->second.begun = nullptr;
      found->second.connection->Respond(std::move(answer.response), clock_.NowNs());
      Settle(answer.connection);
    }
  }

  // Closes it, or waits for what its state needs.
  void Settle(uint64_t number) {
    auto found = connections_.find(number);
    Open& open = found->second;
    Connection& connection = *open.connection;
    if (connection.state() == Connection::State::kWorking && !connection.cancel) Dispatch(open);
    if (connection.state() == Connection::State::kClosed) {
      Abandon(open);
      connections_.erase(found);
      SetListening(true);
      return;
    }
    uint32_t events = EPOLLIN;
    if (connection.state() == Connection::State::kWriting) events = EPOLLOUT;
    // A file comes soon, and a reader that has only finished sending still wants it.
    if (connection.state() == Connection::State::kWorking)
      events = connection.is_slow ? uint32_t{EPOLLRDHUP} : 0;
    if (events == open.events) return;
    open.events = events;
    Watch(connection.socket(), number, events, EPOLL_CTL_MOD);
  }

  void CheckTimes() {
    int64_t now = clock_.NowNs();
    if (checked_ns_ != 0 && now - checked_ns_ < int64_t{kTickMs} * 1'000'000) return;
    checked_ns_ = now;
    CancelAbandoned();
    if (connections_.size() < most_) SetListening(true);
    std::vector<uint64_t> overdue;
    for (auto& [number, open] : connections_) {
      if (IsOverdue(open, now)) overdue.push_back(number);
      int64_t begun = open.begun ? open.begun->load() : 0;
      if (open.connection->is_slow && open.connection->cancel && begun != 0 &&
          now - begun > limits_.answer_ns)
        open.connection->cancel->Cancel();
    }
    for (uint64_t number : overdue) {
      connections_.at(number).connection->Close();
      Settle(number);
    }
  }

  bool IsOverdue(const Open& open, int64_t now) const {
    const Connection& connection = *open.connection;
    int64_t waited = now - connection.since_ns();
    if (connection.state() == Connection::State::kWriting) return waited > limits_.write_ns;
    if (connection.state() != Connection::State::kReading) return false;
    return waited > (connection.IsIdle() ? limits_.idle_ns : limits_.head_ns);
  }

  UniqueFd listener_;
  int stop_;
  Handler& handler_;
  const Clock& clock_;
  ServerLimits limits_;
  size_t most_;
  UniqueFd epoll_;
  std::unordered_map<uint64_t, Open> connections_;
  uint64_t next_ = kAnswers + 1;
  std::vector<std::weak_ptr<CancelToken>> abandoned_;  // gone when their work has ended
  bool listening_ = true;
  bool stopping_ = false;
  int64_t checked_ns_ = 0;
  Answers answers_;
  // Last: their threads use what is above, and are joined first.
  Workers quick_;
  Workers slow_;
};

}  // namespace

Result<UniqueFd> ListenLocally(uint16_t& port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return SystemError("open a socket");
  int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (bind(listener.get(), generic, length) != 0)
    return SystemError(fmt::format("listen on 127.0.0.1:{}", port))
        .Remedy("Choose another port with --port, or none for a free one.");
  if (listen(listener.get(), kBacklog) != 0 || getsockname(listener.get(), generic, &length) != 0)
    return SystemError("listen");
  port = ntohs(address.sin_port);
  return listener;
}

Status Serve(UniqueFd listener, int stop, Handler& handler, const Clock& clock,
             const ServerLimits& limits) {
  return Server(std::move(listener), stop, handler, clock, limits).Run();
}

}  // namespace debrief::serve
