// Numbers and texts one behind the other: how shards are written and read.
//
// A reader never goes beyond its bytes: past the end, and after anything that cannot be, it gives
// zeros and is not ok() any more.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace debrief::shards {

class ByteWriter {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    PutRaw(&value, sizeof value);
  }
  void PutText(std::string_view text) {
    Put<uint64_t>(text.size());
    PutRaw(text.data(), text.size());
  }
  void PutRaw(const void* data, size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  // `size` bytes to be filled in by the caller at once.
  char* Room(size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }

  std::string_view bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Get() {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, bool>) return Get<uint8_t>() != 0;
    T value{};
    const std::string_view raw = Raw(sizeof value);
    if (ok_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view Text() { return Raw(Get<uint64_t>()); }
  std::string_view Raw(uint64_t size) {
    if (size > bytes_.size()) Fail();
    if (!ok_) return {};
    const std::string_view raw = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return raw;
  }
  // How many things follow that have `bytes_each` at least.
  uint64_t Count(uint64_t bytes_each) {
    const auto count = Get<uint64_t>();
    if (count > bytes_.size() / bytes_each) Fail();
    return ok_ ? count : 0;
  }
  void Fail() { ok_ = false; }
  bool ok() const { return ok_; }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace debrief::shards
