// What stops an operation: a code, a sentence, a place and a remedy.
//
// Three kinds of trouble, three tools:
//   Status / Result<T>   an operation could not be done (this file)
//   Diagnostics          something was wrong in an input and we went on (model/diagnostics.h)
//   DEBRIEF_CHECK        a bug of ours; never reachable from input (base/check.h)
//
// No exceptions below app/. TRY and ASSIGN_OR_RETURN are the only macros for flow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace debrief {

enum class Code : uint8_t {
  kOk,
  kInvalid,      // the bytes are not what the format says
  kTruncated,    // the bytes end too early
  kNotFound,     // no such file, table, column
  kDenied,       // the operating system does not let us
  kIo,           // reading or writing failed
  kNoSpace,      // the disk is full
  kLimit,        // a bound against hostile input was reached
  kUnsupported,  // we know what it is and cannot read it
  kChanged,      // the file changed while it was read
  kUsage,        // the user asked for something that does not make sense
};

// The word of a code, as it appears in messages and JSON ("truncated").
std::string_view CodeName(Code code);

// Where in which input. -1 means not known.
struct Place {
  std::string file;
  int64_t offset = -1;  // byte, in the decompressed stream
  int64_t line = -1;    // 1-based
};

// "file.json, byte 17" or "file.log, line 3"; empty when nothing is known.
std::string ToString(const Place& place);

// Null when all is well, so that the good path costs one pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);

  Status&& At(Place place) &&;
  // What the user can do about it, as an imperative sentence.
  Status&& Remedy(std::string remedy) &&;

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& message() const;
  const std::string& remedy() const;
  const Place& place() const;

  // "truncated: gzip stream ends early (x.gz, byte 17). Copy the file again."
  std::string ToString() const;

 private:
  struct Rep {
    Code code;
    std::string message;
    Place place;
    std::string remedy;
  };
  Rep* Own();  // rep_, which no copy shares; null when ok

  std::shared_ptr<Rep> rep_;  // shared so that a Status can be copied into a table of outcomes
};

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define DEBRIEF_CONCAT_(a, b) a##b
#define DEBRIEF_CONCAT(a, b) DEBRIEF_CONCAT_(a, b)

// Returns from the enclosing function when `expression` (a Status) is not ok. The variable has a
// name that no expression uses: TRY(status_) with a plain `status_` here would test itself.
#define TRY(expression) TRY_(DEBRIEF_CONCAT(try_status_, __LINE__), expression)
#define TRY_(status, expression)                                              \
  do {                                                                        \
    if (::debrief::Status status = (expression); !status.ok()) return status; \
  } while (false)

// ASSIGN_OR_RETURN(auto bytes, source.View(0, 10));
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(DEBRIEF_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return result.status();                \
  declaration = std::move(result).value()

}  // namespace debrief
