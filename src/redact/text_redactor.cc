#include "redact/text_redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "redact/addresses.h"
#include "redact/keys.h"
#include "redact/tokens.h"

namespace debrief::redact {

namespace {

constexpr size_t kLongestKeyText = 64 << 10;

constexpr std::array<bool, 256> MakeWordBytes() {
  std::array<bool, 256> is_word{};
  for (size_t c = 0; c < 256; ++c)
    is_word[c] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
  return is_word;
}
constexpr std::array<bool, 256> kWordBytes = MakeWordBytes();

bool IsWordByte(char c) { return kWordBytes[static_cast<uint8_t>(c)]; }
bool IsKeyByte(char c) { return IsWord(c) || c == '-' || c == '.'; }
bool IsBase64(char c) { return IsWordByte(c) || c == '+' || c == '/' || c == '='; }

// -----BEGIN RSA PRIVATE KEY-----
bool BeginsPrivateKey(std::string_view text) {
  if (!text.starts_with("-----BEGIN ")) return false;
  const std::string_view line = text.substr(11, 64);
  const size_t end = line.find("-----");
  return Contains(line.substr(0, end), "PRIVATE KEY");
}

// Folders below which the folders of users lie.
bool EndsWithHome(std::string_view before) {
  for (std::string_view home : {"/home", "/Users", "/users", "\\Users", "torchinductor_"}) {
    if (before.ends_with(home)) return true;
  }
  return false;
}

// The separator of a path that ends before text[at]: "/", "\\", and both as JSON escapes them.
std::string_view WithoutSeparator(std::string_view before) {
  if (before.ends_with("torchinductor_")) return before;
  if (TakeSuffix(before, "\\\\") || TakeSuffix(before, "\\/") || TakeSuffix(before, "/") ||
      TakeSuffix(before, "\\"))
    return before;
  return {};
}

// "API key: x", "secret key = x"
bool IsKeyInWords(std::string_view text, size_t begin, size_t end) {
  const std::string_view key = text.substr(begin, end - begin);
  if ((key != "key" && key != "Key" && key != "KEY") || begin == 0 || text[begin - 1] != ' ')
    return false;
  const std::string_view before = text.substr(0, begin - 1);
  for (std::string_view word :
       {"API", "api", "Api", "ccess", "ecret", "rivate", "SECRET", "ACCESS"}) {
    if (before.ends_with(word)) return true;
  }
  return false;
}

// The keys of Weights & Biases are 40 hexadecimal digits, as commits are: the name must be near.
bool IsNearWandb(std::string_view text, size_t at) {
  constexpr size_t kNear = 96;
  const size_t begin = at - std::min(at, kNear);
  return Contains(text.substr(begin, at - begin), "wandb");
}

bool IsHexWord(std::string_view word) {
  return word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// curl -u me:secret, sshpass -p secret: where the value stands behind the option; 0 for none.
size_t SecretOption(std::string_view text, size_t at) {
  constexpr size_t kNear = 128;
  const size_t begin = at - std::min(at, kNear);
  const std::string_view before = text.substr(begin, at - begin), rest = text.substr(at);
  if (!before.ends_with(' ')) return 0;
  if (rest.starts_with("-u ") && Contains(before, "curl")) return at + 3;
  if (rest.starts_with("--user ") && Contains(before, "curl")) return at + 7;
  const bool asks = Contains(before, "sshpass") || Contains(before, " login ");
  return asks && rest.starts_with("-p ") ? at + 3 : 0;
}

size_t EndOfFolderName(std::string_view text, size_t at) {
  return std::min(text.find_first_of("/\\\"' \t\r\n:,;)>]}|", at), text.size());
}

}  // namespace

void TextRedactor::Replace(size_t begin, size_t end, Secret kind, std::string_view replacement) {
  begin = std::max(begin, copied_);
  out_->append(text_, copied_, begin - copied_);
  const size_t length = end - begin;
  if (keeps_lengths_) {
    out_->append(replacement.substr(0, length));
    out_->append(length - std::min(length, replacement.size()), 'x');
  } else {
    out_->append(replacement);
  }
  copied_ = at_ = end;
  ++counts_[static_cast<size_t>(kind)];
}

void TextRedactor::Redact(std::string_view text, std::string& out) {
  text_ = text;
  out_ = &out;
  at_ = copied_ = next_email_ = 0;
  if (key_bytes_left_ > 0) KeyText();
  while (at_ < text_.size()) {
    if (!IsWordByte(text_[at_])) {
      Sign();
      continue;
    }
    size_t end = at_ + 1;
    while (end < text_.size() && IsWordByte(text_[end])) ++end;
    Word(end);
  }
  out_->append(text_, copied_, text_.size() - copied_);
}

// A word that ends at `end`; at_ moves behind it, or behind what was replaced.
void TextRedactor::Word(size_t end) {
  if (Email(end) || TokenOrAddress(end) || InPath() || Name() || Value(end) || Bearer(end)) return;
  if (options_.shapes && Shape(end)) return;
  if (options_.files && File()) return;
  if (keeps_lengths_) return InnerNames(end);
  at_ = end;
}

bool TextRedactor::Email(size_t end) {
  constexpr size_t kLongest = 64;
  if (next_email_ < at_ || next_email_ == 0)
    next_email_ = std::min(text_.find('@', at_), text_.size());
  if (next_email_ >= text_.size() || next_email_ < end || next_email_ - at_ > kLongest)
    return false;
  const size_t length = EmailAt(text_, at_);
  if (length == 0) return false;
  const std::string mapped = names_.Email(text_.substr(at_, length));
  Replace(at_, at_ + length, Secret::kEmail, mapped);
  return true;
}

bool TextRedactor::TokenOrAddress(size_t end) {
  if (MayBeginToken(text_[at_])) {
    const Token token = TokenAt(text_, at_);
    if (token.length > 0) {
      Replace(at_ + token.kept, at_ + token.length, Secret::kToken, "REDACTED_TOKEN");
      return true;
    }
  }
  constexpr size_t kHexKey = 40;
  if (end - at_ == kHexKey && IsHexWord(text_.substr(at_, kHexKey)) && IsNearWandb(text_, at_)) {
    Replace(at_, end, Secret::kToken, "REDACTED_TOKEN");
    return true;
  }
  if (end >= text_.size() || (text_[end] != '.' && text_[end] != ':')) return false;
  const bool is_v6 = text_[end] == ':';
  const size_t length = is_v6 ? IPv6At(text_, at_) : IsDigit(text_[at_]) ? IPv4At(text_, at_) : 0;
  if (length == 0) return false;
  const std::string mapped = names_.Address(text_.substr(at_, length), is_v6);
  Replace(at_, at_ + length, Secret::kAddress, mapped);
  return true;
}

// /home/NAME, also where the name is an ordinary word.
bool TextRedactor::InPath() {
  if (at_ == 0) return false;
  const char before = text_[at_ - 1];
  if (before != '/' && before != '\\' && before != '_') return false;
  if (!EndsWithHome(WithoutSeparator(text_.substr(0, at_)))) return false;
  const size_t stop = EndOfFolderName(text_, at_);
  const std::string_view mapped = names_.UserInPath(text_.substr(at_, stop - at_));
  if (mapped.empty()) return false;
  Replace(at_, stop, Secret::kUser, mapped);
  return true;
}

bool TextRedactor::Name() {
  const Names::Match found = names_.Find(text_, at_, !keeps_lengths_);
  if (found.length == 0) return false;
  Replace(at_, at_ + found.length, found.kind, found.replacement);
  return true;
}

bool TextRedactor::Value(size_t end) {
  if (end - at_ < 3 || !MayEndKey(text_[end - 2], text_[end - 1])) return false;
  if (end < text_.size() && IsWord(text_[end])) return false;
  constexpr size_t kLongestKey = 64;
  size_t begin = at_;
  while (begin > copied_ && at_ - begin < kLongestKey && IsKeyByte(text_[begin - 1])) --begin;
  while (begin < at_ && !IsWord(text_[begin])) ++begin;  // "--token"
  KeyKind kind = KindOfKey(text_.substr(begin, end - begin));
  if (kind == KeyKind::kNone && IsKeyInWords(text_, begin, end)) kind = KeyKind::kToken;
  if (kind == KeyKind::kNone) return false;
  const SecretValue value = ValueOf(text_, begin, end, kind);
  if (value.begin >= value.end) return false;
  const std::string replacement = value.quote + "REDACTED" + value.quote;
  Replace(value.begin, value.end, kind == KeyKind::kToken ? Secret::kToken : Secret::kPassword,
          replacement);
  return true;
}

bool TextRedactor::Bearer(size_t end) {
  constexpr size_t kShortest = 8;
  const std::string_view word = text_.substr(at_, end - at_);
  if (word != "Bearer" && word != "bearer" && word != "BEARER") return false;
  size_t begin = end;
  while (begin < text_.size() && text_[begin] == ' ') ++begin;
  size_t stop = begin;
  while (stop < text_.size() && IsTokenByte(text_[stop])) ++stop;
  if (begin == end || stop - begin < kShortest) return false;
  Replace(begin, stop, Secret::kToken, "REDACTED_TOKEN");
  return true;
}

// Of binary formats: the byte before a string may be a letter to the eye.
void TextRedactor::InnerNames(size_t end) {
  for (++at_; at_ < end; ++at_) {
    const Token token = TokenAt(text_, at_);
    if (token.length > 0)
      return Replace(at_ + token.kept, at_ + token.length, Secret::kToken, "REDACTED_TOKEN");
    if (Name()) return;
  }
}

// What begins with a sign: an address behind "://", an IPv6 address, a private key.
void TextRedactor::Sign() {
  const std::string_view rest = text_.substr(at_);
  size_t slashes = 0;
  if (rest.starts_with("://")) slashes = 3;
  if (rest.starts_with(":\\/\\/")) slashes = 5;
  if (slashes > 0) {
    const size_t length = CredentialsAt(text_, at_ + slashes);
    if (length > 0)
      return Replace(at_ + slashes, at_ + slashes + length, Secret::kCredentials, "REDACTED");
    at_ += slashes;
    return;
  }
  if (rest.starts_with("::")) {
    const size_t length = IPv6At(text_, at_);
    if (length > 0) {
      const std::string mapped = names_.Address(rest.substr(0, length), true);
      return Replace(at_, at_ + length, Secret::kAddress, mapped);
    }
  }
  if (rest[0] == '-') {
    const size_t begin = SecretOption(text_, at_);
    const size_t end = std::min(text_.find_first_of(" \t\r\n", begin), text_.size());
    if (begin > 0 && end > begin) return Replace(begin, end, Secret::kCredentials, "REDACTED");
  }
  if (rest[0] == '-' && BeginsPrivateKey(rest)) {
    ++counts_[static_cast<size_t>(Secret::kPrivateKey)];
    key_bytes_left_ = kLongestKeyText;
    at_ += rest.find("-----", 11) + 5;
    return KeyText();
  }
  ++at_;
}

// The lines of a private key, up to its end: what is base64 in them is replaced; marks of a
// launcher before a line, line ends and their escapes stay.
void TextRedactor::KeyText() {
  constexpr size_t kLongRun = 8;
  while (at_ < text_.size() && key_bytes_left_ > 0) {
    if (text_.substr(at_).starts_with("-----END")) {
      key_bytes_left_ = 0;
      at_ += 8;
      return;
    }
    const size_t begin = at_;
    if (!IsBase64(text_[at_])) {
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    } else {
      while (at_ < text_.size() && IsBase64(text_[at_])) ++at_;
      const bool ends_line = at_ == text_.size() || Contains("\\\r\n\"'", text_.substr(at_, 1));
      if (at_ - begin >= kLongRun || ends_line) {
        Replace(begin, at_, Secret::kPrivateKey, "REDACTED");
        --counts_[static_cast<size_t>(Secret::kPrivateKey)];  // a key counts once
      }
    }
    key_bytes_left_ -= std::min(key_bytes_left_, at_ - begin);
  }
}

}  // namespace debrief::redact
