// Replaces secrets and names in a text, in one pass.
//
//   TextRedactor redactor(names, options, counts);
//   redactor.Redact(lines, out);
//
// A text comes in pieces that end where no secret can lie across (chunks.h). Every word is looked
// at once, by a few tables of its first and last bytes; nothing is a regular expression, and cost
// is linear whatever the text is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redact/kinds.h"
#include "redact/names.h"

namespace debrief::redact {

class TextRedactor {
 public:
  TextRedactor(Names& names, const Options& options, Counts& counts)
      : names_(names), options_(options), counts_(counts) {}

  // Of formats whose offsets must stay: a replacement has as many bytes as what it replaces, and
  // secrets are found also where bytes before them look like a part of them.
  void KeepLengths() { keeps_lengths_ = true; }

  // The next text does not go on where the last one ended.
  void Begin() { key_bytes_left_ = 0; }

  // Appends `text` with all replacements to `out`.
  void Redact(std::string_view text, std::string& out);

 private:
  void Replace(size_t begin, size_t end, Secret kind, std::string_view replacement);
  void Word(size_t end);
  bool Email(size_t end);
  bool Name();
  bool InPath();
  bool TokenOrAddress(size_t end);
  bool Value(size_t end);
  bool Bearer(size_t end);
  void InnerNames(size_t end);
  void Sign();
  void KeyText();
  bool Shape(size_t end);
  bool File();

  Names& names_;
  Options options_;
  Counts& counts_;
  bool keeps_lengths_ = false;
  size_t key_bytes_left_ = 0;  // of a PEM block that has begun: it ends by then

  // While a call is under way.
  std::string_view text_;
  std::string* out_ = nullptr;
  size_t at_ = 0;
  size_t copied_ = 0;
  size_t next_email_ = 0;  // the next '@' at or behind at_
};

}  // namespace debrief::redact
