// The server with a handler of ours: order of answers, time limits, readers that leave.
#include "serve/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace debrief::serve {
namespace server_test {

using namespace std::chrono_literals;

class SteadyClock final : public Clock {
 public:
  int64_t NowNs() const override {
    return std::chrono::steady_clock::now().time_since_epoch() / 1ns;
  }
};

// "/slow" waits until it is cancelled; everything else says its path.
class Echo final : public Handler {
 public:
  bool IsSlow(const Request& request) const override { return request.path == "/slow"; }
  Response Answer(const Request& request, CancelToken& cancel) override {
    if (!IsSlow(request)) return TextResponse(200, request.path);
    ++running;
    while (!cancel.cancelled()) std::this_thread::sleep_for(1ms);
    --running;
    return TextResponse(400, "too slow");
  }
  std::atomic<int> running = 0;
};

class ServerTest : public ::testing::Test {
 protected:
  void Start(ServerLimits limits) {
    auto listener = ListenLocally(port_);
    ASSERT_TRUE(listener.ok());
    thread_ = std::jthread([this, limits, socket = std::move(listener).value()]() mutable {
      EXPECT_TRUE(Serve(std::move(socket), stop_.get(), echo_, clock_, limits).ok());
    });
  }
  void TearDown() override {
    uint64_t one = 1;
    EXPECT_EQ(write(stop_.get(), &one, sizeof one), ssize_t{sizeof one});
  }

  UniqueFd Connect() const {
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return client;
  }
  static void Send(const UniqueFd& client, std::string_view bytes) {
    EXPECT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until the server closes.
  static std::string ReadAll(const UniqueFd& client) {
    std::string all;
    char bytes[4096];
    for (ssize_t got; (got = recv(client.get(), bytes, sizeof bytes, 0)) > 0;)
      all.append(bytes, static_cast<size_t>(got));
    return all;
  }

  SteadyClock clock_;
  Echo echo_;
  UniqueFd stop_{eventfd(0, EFD_CLOEXEC)};
  uint16_t port_ = 0;
  std::jthread thread_;
};

TEST_F(ServerTest, AnswersInOrderOnOneConnection) {
  Start({});
  UniqueFd client = Connect();
  Send(client, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nHEAD /c HTTP/1.0\r\n\r\n");
  std::string all = ReadAll(client);
  EXPECT_LT(all.find("\r\n\r\n/a\n"), all.find("\r\n\r\n/b\n"));
  EXPECT_NE(all.find("/b\n"), std::string_view::npos);
  EXPECT_TRUE(all.ends_with("Connection: close\r\n\r\n")) << "HEAD has no body";
}

TEST_F(ServerTest, ReadsARequestThatComesByteByByte) {
  Start({});
  UniqueFd client = Connect();
  for (char c : std::string_view("GET /a HTTP/1.0\r\n\r\n")) Send(client, {&c, 1});
  EXPECT_TRUE(ReadAll(client).ends_with("/a\n"));
}

TEST_F(ServerTest, StopsAnAnswerThatTakesTooLong) {
  Start({.answer_ns = 50'000'000});
  UniqueFd client = Connect();
  Send(client, "GET /slow HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ReadAll(client).ends_with("too slow\n"));
}

TEST_F(ServerTest, StopsTheAnswerOfAReaderThatLeft) {
  Start({});
  {
    UniqueFd client = Connect();
    Send(client, "GET /slow HTTP/1.1\r\n\r\n");
    while (echo_.running == 0) std::this_thread::sleep_for(1ms);
  }
  for (int i = 0; i < 5000 && echo_.running > 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(echo_.running, 0);
}

TEST_F(ServerTest, QuickAnswersPassSlowOnes) {
  Start({.slow_threads = 1});
  UniqueFd slow = Connect();
  UniqueFd waiting = Connect();
  Send(slow, "GET /slow HTTP/1.1\r\n\r\n");
  Send(waiting, "GET /slow HTTP/1.1\r\n\r\n");
  UniqueFd quick = Connect();
  Send(quick, "GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ReadAll(quick).ends_with("/a\n"));
}

TEST_F(ServerTest, ClosesConnectionsThatSendNothingOrTooSlowly) {
  Start({.head_ns = 50'000'000, .idle_ns = 50'000'000});
  UniqueFd idle = Connect();
  UniqueFd cut = Connect();
  Send(cut, "GET / HT");
  EXPECT_EQ(ReadAll(idle), "");
  EXPECT_EQ(ReadAll(cut), "");
}

TEST_F(ServerTest, MoreConnectionsThanAllowedWaitForTheirTurn) {
  Start({.connections = 2});
  UniqueFd one = Connect();
  UniqueFd two = Connect();
  UniqueFd three = Connect();
  Send(three, "GET /c HTTP/1.0\r\n\r\n");
  Send(one, "GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ReadAll(one).ends_with("/a\n"));
  EXPECT_TRUE(ReadAll(three).ends_with("/c\n"));
}

}  // namespace server_test
}  // namespace debrief::serve
