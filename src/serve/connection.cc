#include "serve/connection.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace debrief::serve {

namespace {

// At one turn; then others have theirs.
constexpr int64_t kTurnBytes = 256 << 10;

bool WouldWait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void Connection::Receive(int64_t now_ns) {
  std::array<char, 16 << 10> bytes;
  ssize_t got = recv(socket(), bytes.data(), bytes.size(), 0);
  if (got == 0 || (got < 0 && !WouldWait())) return Close();
  if (got < 0) return;
  if (received_.empty()) since_ns_ = now_ns;
  received_.append(bytes.data(), static_cast<size_t>(got));
  ParseReceived(now_ns);
}

void Connection::ParseReceived(int64_t now_ns) {
  if (state_ != State::kReading || received_.empty()) return;
  size_t used = 0;
  Parsed parsed = ParseRequest(received_, request_, used);
  if (parsed == Parsed::kIncomplete) return;
  if (parsed == Parsed::kBad) {
    request_.keep_alive = false;
    bool is_long = received_.size() > kMaxHeadBytes;
    return Respond(TextResponse(is_long ? 431 : 400,
                                is_long ? "The request is too long." : "This is no HTTP request."),
                   now_ns);
  }
  received_.erase(0, used);
  // What follows is a body that nobody reads; it must not be taken for a request.
  if (request_.has_body) request_.keep_alive = false;
  since_ns_ = now_ns;
  state_ = State::kWorking;
}

void Connection::Respond(Response response, int64_t now_ns) {
  response_ = std::move(response);
  keep_alive_ = request_.keep_alive;
  head_ = HeadOf(response_, keep_alive_);
  head_sent_ = 0;
  body_sent_ = 0;
  body_bytes_ = request_.method == "HEAD" ? 0 : response_.BodyBytes();
  since_ns_ = now_ns;
  state_ = State::kWriting;
  Send(now_ns);
}

void Connection::Send(int64_t now_ns) {
  if (!SendBytes(head_, head_sent_, body_bytes_ > 0 ? MSG_MORE : 0)) return;
  const int64_t before = body_sent_;
  const bool done =
      response_.file.valid()
          ? SendFile()
          : SendBytes(std::string_view(response_.body).substr(0, static_cast<size_t>(body_bytes_)),
                      body_sent_, 0);
  if (body_sent_ != before) since_ns_ = now_ns;
  if (done && state_ == State::kWriting) Finish(now_ns);
}

// All of `bytes` that are not sent; whether none is left.
bool Connection::SendBytes(std::string_view bytes, int64_t& sent, int flags) {
  while (sent < static_cast<int64_t>(bytes.size())) {
    const std::string_view rest = bytes.substr(static_cast<size_t>(sent));
    const ssize_t now = send(socket(), rest.data(), rest.size(), MSG_NOSIGNAL | flags);
    if (now < 0) {
      if (!WouldWait()) Close();
      return false;
    }
    sent += now;
  }
  return true;
}

bool Connection::SendFile() {
  int64_t turn = kTurnBytes;
  while (body_sent_ < body_bytes_ && turn > 0) {
    off_t from = response_.offset + body_sent_;
    size_t wanted = static_cast<size_t>(std::min(turn, body_bytes_ - body_sent_));
    ssize_t sent = sendfile(socket(), response_.file.get(), &from, wanted);
    if (sent < 0 && WouldWait()) return false;
    // A file that has become shorter cannot be what was promised: the reader sees a cut answer.
    if (sent <= 0) {
      Close();
      return false;
    }
    body_sent_ += sent;
    turn -= sent;
  }
  return body_sent_ == body_bytes_;
}

void Connection::Finish(int64_t now_ns) {
  response_ = {};
  head_.clear();
  if (!keep_alive_) return Close();
  since_ns_ = now_ns;
  state_ = State::kReading;
  ParseReceived(now_ns);  // a reader may have sent the next request already
}

}  // namespace debrief::serve
