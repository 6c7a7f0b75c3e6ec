// Writes a pickle (protocol 2) of plain values, which every Python reads without importing
// anything.
//
//   PickleWriter pickle(&out);
//   pickle.BeginDict().Key("ranks").BeginList().Int(0).Int(1).EndList().EndDict().Stop();
//
// Balance of Begin and End is the caller's business. Keys repeat, so they are written once and
// fetched from the memo afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace debrief {

class PickleWriter {
 public:
  // Appends to `out`, which the caller may empty between two calls.
  explicit PickleWriter(std::string* out);

  PickleWriter& BeginDict() { return Put("}("); }
  PickleWriter& EndDict() { return Put("u"); }
  PickleWriter& BeginList() { return Put("]("); }
  PickleWriter& EndList() { return Put("e"); }
  // Between two items of a long list: a reader need not keep those before on its stack.
  PickleWriter& NextPiece() { return Put("e("); }
  PickleWriter& Key(std::string_view key);

  PickleWriter& Null() { return Put("N"); }
  PickleWriter& Bool(bool value) { return Put(value ? "\x88" : "\x89"); }
  PickleWriter& Int(int64_t number);
  PickleWriter& Double(double number);
  PickleWriter& Text(std::string_view text);
  PickleWriter& Stop() { return Put("."); }

 private:
  PickleWriter& Put(std::string_view bytes) {
    *out_ += bytes;
    return *this;
  }
  void PutNumber(uint64_t number, unsigned bytes);

  std::string* out_;
  std::map<std::string, uint32_t, std::less<>> keys_;  // numbers in the memo
};

}  // namespace debrief
