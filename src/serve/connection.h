// One connection: bytes in until a request is complete, then its answer out. The server tells it
// when the socket can be read or written; it never waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes/unique_fd.h"
#include "serve/cancel.h"
#include "serve/http.h"

namespace debrief::serve {

class Connection {
 public:
  enum class State : uint8_t {
    kReading,  // a request is not complete yet, or has not begun
    kWorking,  // somebody makes the answer
    kWriting,
    kClosed,
  };

  Connection(UniqueFd socket, uint64_t number, int64_t now_ns)
      : socket_(std::move(socket)), number_(number), since_ns_(now_ns) {}

  int socket() const { return socket_.get(); }
  uint64_t number() const { return number_; }
  State state() const { return state_; }
  const Request& request() const { return request_; }
  // When the present request's head, answer or last piece of output began.
  int64_t since_ns() const { return since_ns_; }
  // Nothing of a next request has come.
  bool IsIdle() const { return state_ == State::kReading && received_.empty(); }

  // Reads what there is. kWorking afterwards: request() is complete.
  void Receive(int64_t now_ns);
  void Respond(Response response, int64_t now_ns);
  // Writes what the socket takes; at the end the next request may come.
  void Send(int64_t now_ns);
  void Close() { state_ = State::kClosed; }

  std::shared_ptr<CancelToken> cancel;  // of the request that is being answered
  bool is_slow = false;

 private:
  void ParseReceived(int64_t now_ns);
  bool SendBytes(std::string_view bytes, int64_t& sent, int flags);
  bool SendFile();
  void Finish(int64_t now_ns);

  UniqueFd socket_;
  uint64_t number_;
  State state_ = State::kReading;
  int64_t since_ns_;
  std::string received_;
  Request request_;
  Response response_;
  std::string head_;  // of the answer
  int64_t head_sent_ = 0;
  int64_t body_sent_ = 0;
  int64_t body_bytes_ = 0;  // to send; 0 for HEAD
  bool keep_alive_ = true;
};

}  // namespace debrief::serve
