// Rewrites JSON text exactly as Rust's serde_json prints the `Value` it reads from it: keys sorted
// by their bytes, of keys that come twice the last one, numbers as 64-bit integers or doubles,
// nothing escaped that need not be. Byte for byte, quirks of its number parser included (see
// json_canonical_number.h), and it refuses what serde_json refuses: lone surrogates, 1e400, more
// than 127 nested containers, bare control characters, invalid UTF-8.
//
//   JsonCanonical canonical;                             // one a thread, reused for all texts
//   canonical.Append(" {\"b\": 1.50, \"a\": [ ]}", {}, out);                // {"a":[],"b":1.5}
//
//   // A pretty array of events, each of which is rewritten wherever and whenever one likes:
//   out += JsonCanonical::kBetweenElements, canonical.Append(event, JsonCanonical::kElement, out);
//   file = out.empty() ? "[]" : '[' + out.substr(1) + "\n]";
//
// How: simdjson's first stage finds the tokens (and checks UTF-8, quotes and control characters,
// 64 bytes at a time); one walk over them checks the grammar and lists the members of each object
// in order of keys; a second walk writes. Scalars are looked at in the second walk only: the end of
// a string is where the white space before the next token begins, so it is not searched for, and it
// is copied while looking for backslashes.
//
// Cost: events of 170 bytes 0.44 GB a second and core (about 400 ns each), a log's mix of
// them with some of 80 KB, mostly strings, 2.6 GB; log envelopes of 540 bytes 1.0 GB. The result is
// copied once: it is written to memory that is not cleared first, as a std::string would do.
// Between calls it keeps 4 bytes per byte of the longest text, and room for the longest result
// (address space: only what was used is memory).
//
// Why not simdjson's DOM or On-Demand: the former keeps of a number only the nearest double, which
// is not what serde_json reads; the latter moves forward only, so that members in another order
// would have to be listed first and then be scanned a second time for their ends.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/arena.h"

namespace debrief {

struct JsonStyle {
  bool pretty = false;  // lines, indented by two blanks a level, else no blank anywhere
  // Of all lines but the first, which continues what the caller has written.
  uint32_t indent_levels = 0;
};

// A field that is put into an object. `json` is a value in canonical form, written as it stands.
struct JsonExtraField {
  std::string_view key;  // not escaped, valid UTF-8, no other field has it
  std::string_view json;
};

class JsonCanonical {
 public:
  static constexpr JsonStyle kCompact = {};
  static constexpr JsonStyle kPretty = {.pretty = true};
  static constexpr JsonStyle kElement = {.pretty = true, .indent_levels = 1};
  static constexpr std::string_view kBetweenElements = ",\n  ";

  JsonCanonical() = default;
  JsonCanonical(const JsonCanonical&) = delete;
  JsonCanonical& operator=(const JsonCanonical&) = delete;

  // `text` is one value with any white space around it; no bytes behind it are read. False, and
  // `out` as it was, when serde_json would refuse it or it has 4 GiB or more.
  bool Append(std::string_view text, JsonStyle style, std::string& out);

  // The same for an object that gets `fields`, each in place of the field of that name if there is
  // one. False also when the text is no object.
  bool AppendReplacing(std::string_view text, std::span<const JsonExtraField> fields,
                       JsonStyle style, std::string& out);

  struct Added {
    enum class Outcome : uint8_t { kWritten, kRefused, kConflict };
    Outcome outcome = Outcome::kRefused;
    size_t conflict = 0;  // the first of the fields whose name the object has already
  };
  // The same for an object that must not have any of `fields` yet.
  Added AppendAdding(std::string_view text, std::span<const JsonExtraField> fields, JsonStyle style,
                     std::string& out);

 private:
  enum class Source : uint8_t { kText, kUnescaped, kExtra };

  struct Member {
    uint64_t prefix;  // the first 8 bytes of the key, so that integers compare like keys
    const char* key;
    uint32_t key_bytes;
    uint32_t value;  // its token, or its index among the extras
    Source source;   // kText: the key is written as it stands in the text

    std::string_view key_view() const { return {key, key_bytes}; }
  };

  using Members = std::vector<Member>;

  struct Object {
    size_t first;    // in members_
    size_t members;  // sorted, without duplicates
    uint32_t end;    // the token behind it
  };

  // The first walk.
  bool Read(std::string_view text, JsonStyle style);
  bool FindTokens();
  bool ReadValue(uint32_t depth);
  bool ReadArray(uint32_t depth);
  bool ReadObject(uint32_t depth);
  bool ReadKey();
  bool OpenEscapedMember(std::string_view raw);
  Members::iterator DropDuplicates(Members::iterator begin, Members::iterator end);
  bool CloseObject(uint32_t token, size_t first_open);

  Object* root_object();
  Member* FindMember(const Object& object, std::string_view key);
  void RemoveMember(Object& root, Member* member);
  void AddExtras(Object& root, std::span<const JsonExtraField> fields);

  // The second walk: each writes at `to` and returns where it stopped, nullptr for a bad scalar.
  char* Write();
  bool Flush(const char* end, std::string& out) const;
  char* WriteValue(uint32_t token, uint32_t level, char* to);
  char* WriteArray(uint32_t token, uint32_t level, char* to);
  char* WriteObject(const Object& object, uint32_t level, char* to);
  char* WriteMember(const Member& member, uint32_t level, char* to);
  char* WriteString(uint32_t token, char* to) const;
  static char* WriteScalar(std::string_view token, char* to);
  char* BreakLine(uint32_t level, char* to) const;

  // The byte a token begins with; 0 behind the last one.
  char Byte(uint32_t token) const { return token < tokens_ ? text_[starts_[token]] : '\0'; }
  // A scalar, from its first byte to its last.
  std::string_view Scalar(uint32_t token) const;
  // What stands between the quotes of a string.
  std::optional<std::string_view> Quoted(uint32_t token) const;

  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  std::unique_ptr<char[]> result_;
  size_t result_bytes_ = 0;

  std::string_view text_;
  JsonStyle style_;
  std::span<const JsonExtraField> extras_;
  // Offsets of the tokens; the one behind an opening brace is replaced by an index into objects_.
  uint32_t* starts_ = nullptr;
  uint32_t tokens_ = 0;
  uint32_t at_ = 0;    // the token the first walk has come to
  uint32_t next_ = 0;  // the token behind what WriteValue wrote
  size_t room_ = 0;    // no less than what the result can take
  Members open_;       // of objects that are not read to their end, outermost first
  Members members_;
  std::vector<Object> objects_;
  std::vector<uint32_t> dropped_;  // values whose key came again: not written, but checked
  Arena unescaped_;
};

}  // namespace debrief
