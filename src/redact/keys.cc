#include "redact/keys.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::redact {

namespace {

using Words = std::vector<std::string>;

template <size_t count>
bool IsOneOf(const std::array<std::string_view, count>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

constexpr std::array<std::string_view, 14> kPasswords = {
    "password", "passwd",  "pwd",           "passphrase",      "passcode",
    "secret",   "secrets", "passwords",     "credential",      "credentials",
    "cookie",   "dsn",     "authorization", "connectionstring"};
constexpr std::array<std::string_view, 12> kTokens = {
    "apikey", "accesskey", "secretkey",   "privatekey", "authkey", "signature",
    "sig",    "auth",      "accesstoken", "authtoken",  "webhook", "accountkey"};
// What stands before "key".
constexpr std::array<std::string_view, 22> kOfKeys = {
    "api",     "access",       "secret", "private", "auth",    "encryption", "signing", "account",
    "service", "ssh",          "master", "shared",  "session", "storage",    "deploy",  "admin",
    "license", "subscription", "app",    "write",   "ingest",  "client"};
// What stands before "token" where it is one of a text.
constexpr std::array<std::string_view, 28> kOfTexts = {
    "eos",     "bos",   "pad",        "unk",    "sep",    "cls",   "mask",
    "special", "num",   "max",        "min",    "next",   "per",   "last",
    "first",   "new",   "image",      "start",  "end",    "stop",  "prompt",
    "control", "extra", "additional", "prefix", "suffix", "audio", "each"};
constexpr std::array<std::string_view, 10> kOfPasses = {
    "forward", "backward", "num", "first", "second", "full", "single", "by", "fwd", "bwd"};

constexpr std::array<std::string_view, 7> kJoinedPasses = {
    "sshpass", "dbpass", "userpass", "rootpass", "smtppass", "ftppass", "adminpass"};

// "wandbApiKey", "WANDB_API_KEY" and "wandb-api-key" are wandb, api, key.
Words WordsOf(std::string_view key) {
  Words words(1);
  for (size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool is_break = c == '_' || c == '-' || c == '.';
    const bool is_hump = i > 0 && IsUpper(c) && (IsLower(key[i - 1]) || IsDigit(key[i - 1]));
    if ((is_break || is_hump) && !words.back().empty()) words.emplace_back();
    if (!is_break) words.back() += LowerCase(c);
  }
  if (words.back().empty() && words.size() > 1) words.pop_back();
  return words;
}

// A quote with the backslashes before it, at text[at]; empty when there is none.
std::string_view QuoteAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] == '\\' && end - at < 8) ++end;
  const bool is_quote = end < text.size() && (text[end] == '"' || text[end] == '\'');
  return is_quote ? text.substr(at, end + 1 - at) : std::string_view();
}

size_t SkipBlanks(std::string_view text, size_t at, std::string_view blanks) {
  return std::min(text.find_first_not_of(blanks, at), text.size());
}

// Behind the value in quotes that begins at text[at]. A quote with n backslashes before it closes
// one that was opened so; those of the value itself have more, as JSON inside of JSON doubles them.
size_t EndOfQuoted(std::string_view text, size_t at, std::string_view quote) {
  const size_t opened = quote.size() - 1;
  size_t backslashes = 0;
  for (size_t end = at; end < text.size(); ++end) {
    if (text[end] == '\n' && opened == 0) return end;  // it is never closed
    if (text[end] == quote.back() && backslashes % (2 * (opened + 1)) == opened)
      return end - opened;
    backslashes = text[end] == '\\' ? backslashes + 1 : 0;
  }
  return text.size();
}

bool IsNothing(std::string_view value) {
  constexpr std::array<std::string_view, 10> kNothings = {
      "null", "None", "none", "nil", "true", "false", "True", "False", "***", "REDACTED"};
  return value.empty() || IsOneOf(kNothings, value) || value.starts_with("${") ||
         value.starts_with("REDACTED") || value.find_first_not_of("*x.") == std::string_view::npos;
}

bool IsSecretValue(std::string_view value, KeyKind kind) {
  if (IsNothing(value) || value.starts_with("SIG")) return false;  // sig=SIGTERM
  if (kind == KeyKind::kPassword) return true;
  constexpr size_t kShortest = 6;
  const bool is_number = value.find_first_not_of("0123456789.,") == std::string_view::npos;
  return value.size() >= kShortest && !is_number &&
         (IsWord(value[0]) || value[0] == '/' || value[0] == '+');
}

// A value without quotes: after "=" up to a blank, in a query of an address up to the next
// parameter; after ":" of a password up to the end of the line, since it may have blanks.
size_t EndOfPlain(std::string_view text, size_t at, char sign, bool is_query, KeyKind kind) {
  std::string_view ends = " \t\r\n\"'`";
  if (sign == '>') ends = "<\r\n";
  if (is_query) ends = " \t\r\n\"'`&#";
  if (sign == ':') ends = kind == KeyKind::kPassword ? "\r\n\"'`," : " \t\r\n\"'`,";
  size_t end = std::min(text.find_first_of(ends, at), text.size());
  while (end > at && Contains(" \t,;)}]\\", text.substr(end - 1, 1))) --end;
  return end;
}

// What may stand between the two lines of a list of names and values: quotes, line ends, those that
// JSON escapes, and the mark of a launcher.
size_t SkipBetween(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 64;
  const size_t stop = std::min(text.size(), at + kFarthest);
  while (at < stop) {
    const std::string_view rest = text.substr(at, stop - at);
    if (rest.starts_with("\\n") || rest.starts_with("\\r") || rest.starts_with("\\t")) {
      at += 2;
    } else if (rest[0] == '[' && rest.find("]:") != std::string_view::npos) {
      at += rest.find("]:") + 2;
    } else if (Contains(" \t\r\n,\"'\\-", rest.substr(0, 1))) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

// {"name": "DB_PASSWORD", "value": "x"}, or the same as YAML: moves `at` behind "value".
bool SkipToValue(std::string_view text, size_t& at) {
  const size_t word = SkipBetween(text, at);
  if (word == at || !text.substr(word).starts_with("value")) return false;
  const size_t end = word + 5;
  if (end < text.size() && IsWord(text[end])) return false;
  at = end;
  at += QuoteAt(text, at).size();
  return true;
}

// "--token x", and "machine h login me password x" of .netrc.
bool IsFollowedByValue(std::string_view text, size_t begin, size_t end) {
  if (end + 1 >= text.size() || text[end] != ' ' || text[end + 1] == '-') return false;
  constexpr size_t kLongestLine = 512;
  const size_t least = begin - std::min(begin, kLongestLine);
  std::string_view before = text.substr(least, begin - least);
  if (before.ends_with("--")) return true;
  before.remove_prefix(before.rfind('\n') + 1);
  return Contains(before, "login ");
}

// Moves `at`, which is behind the key, behind the sign before its value. '\0': there is none.
char TakeSign(std::string_view text, size_t begin, size_t end, size_t& at) {
  if (at >= text.size()) return '\0';
  if (text[at] == '>' && begin > 0 && text[begin - 1] == '<') {  // <password>x</password>
    ++at;
    return '>';
  }
  size_t sign_at = SkipBlanks(text, at, " \t");
  const auto is_sign = [&] {
    return sign_at < text.size() && (text[sign_at] == '=' || text[sign_at] == ':');
  };
  if (!is_sign()) {
    if (SkipToValue(text, at)) {
      sign_at = SkipBlanks(text, at, " \t");
      if (!is_sign()) return '\0';
    } else if (at == end && IsFollowedByValue(text, begin, end)) {
      at = end + 1;
      return '=';
    } else {
      return '\0';
    }
  }
  const char sign = text[sign_at];
  at = sign_at + 1;
  if (at < text.size() && (text[at] == '=' || text[at] == ':')) return '\0';  // a comparison, C++
  if (at < text.size() && sign == '=' && text[at] == '>') ++at;
  return sign;
}

// "password: |" of YAML: the value is the lines below.
bool IsBlockMark(std::string_view text, size_t at) {
  if (text[at] != '|' && text[at] != '>') return false;
  const size_t end = text.find_first_not_of("|>+-0123456789 ", at);
  return end != std::string_view::npos && (text[end] == '\n' || text[end] == '\r');
}

// Bytes of the mark of a launcher in front of a line: "[rank1]:".
size_t MarkOf(std::string_view line) {
  constexpr size_t kLongestMark = 32;
  if (!line.starts_with('[')) return 0;
  const size_t end = line.substr(0, kLongestMark).find("]:");
  return end == std::string_view::npos ? 0 : end + 2;
}

size_t IndentOf(std::string_view line) {
  line.remove_prefix(MarkOf(line));
  return std::min(line.find_first_not_of(' '), line.size());
}

// The lines below that are indented more than the line of the key.
SecretValue BlockAt(std::string_view text, size_t begin, size_t at) {
  constexpr size_t kLongestBlock = 64 << 10;
  const size_t line = text.substr(0, begin).rfind('\n') + 1;  // npos + 1 is 0
  const size_t indent = IndentOf(text.substr(line, begin - line + 1));
  SecretValue value;
  value.begin = value.end = std::min(text.find('\n', at), text.size() - 1) + 1;
  while (value.end < text.size() && value.end - value.begin < kLongestBlock) {
    const std::string_view next = FirstLine(text.substr(value.end));
    if (!Trimmed(next.substr(MarkOf(next))).empty() && IndentOf(next) <= indent) break;
    value.end += next.size() + 1;
  }
  value.end = std::min(value.end, text.size());
  if (value.end > value.begin && text[value.end - 1] == '\n') --value.end;
  const std::string_view first = text.substr(value.begin);
  value.begin = std::min(value.begin + MarkOf(first) + IndentOf(first), value.end);
  return value;
}

// Only blanks and dashes between the begin of the line and `begin`.
bool BeginsLine(std::string_view text, size_t begin) {
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '-' || text[begin - 1] == '\t'))
    --begin;
  return begin == 0 || text[begin - 1] == '\n';
}

// Not a word of a sentence: "unexpected token: newline".
bool LooksRandom(std::string_view value) {
  constexpr size_t kLong = 20;
  return value.size() >= kLong || value.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

bool MayEndKey(char last_but_one, char last) {
  constexpr std::array<std::string_view, 18> kEnds = {"rd", "wd", "se", "de", "et", "ts",
                                                      "al", "ls", "ie", "on", "ss", "en",
                                                      "ey", "re", "ig", "th", "sn", "ok"};
  constexpr std::array<std::string_view, 4> kMore = {"ds", "id", "ng", "rl"};
  const std::array<char, 2> pair = {static_cast<char>(last_but_one | 0x20),
                                    static_cast<char>(last | 0x20)};
  const std::string_view ending(pair.data(), pair.size());
  return IsOneOf(kEnds, ending) || IsOneOf(kMore, ending);
}

KeyKind KindOfKey(std::string_view key) {
  const Words words = WordsOf(key);
  const std::string& last = words.back();
  std::string before = words.size() > 1 ? words[words.size() - 2] : "";
  const auto ends = [&](std::string_view end) { return last.ends_with(end); };
  // Also PGPASSWORD and clientsecret.
  if (IsOneOf(kPasswords, last) || IsOneOf(kJoinedPasses, last) || ends("password") ||
      ends("secret"))
    return KeyKind::kPassword;
  if (last == "pass")
    return words.size() > 1 && !IsOneOf(kOfPasses, before) ? KeyKind::kPassword : KeyKind::kNone;
  if (last == "string" && before == "connection") return KeyKind::kPassword;
  if (ends("token")) {
    if (last.size() > 5) before = last.substr(0, last.size() - 5);
    return IsOneOf(kOfTexts, before) ? KeyKind::kNone : KeyKind::kToken;
  }
  const bool is_key = last == "key" && IsOneOf(kOfKeys, before);
  const bool is_key_id = last == "id" && before == "key" && words.size() > 2;
  const bool is_webhook = last == "url" && before == "webhook";
  return is_key || is_key_id || is_webhook || ends("apikey") || IsOneOf(kTokens, last)
             ? KeyKind::kToken
             : KeyKind::kNone;
}

SecretValue ValueOf(std::string_view text, size_t begin, size_t end, KeyKind kind) {
  const std::string_view key_quote = QuoteAt(text, end);
  size_t at = end + key_quote.size();
  const char sign = TakeSign(text, begin, end, at);
  if (sign == '\0') return {};
  at = SkipBlanks(text, at, key_quote.empty() ? " \t" : " \t\r\n");
  if (at >= text.size()) return {};
  if (sign == ':' && key_quote.empty() && IsBlockMark(text, at)) return BlockAt(text, begin, at);
  // What no value begins with is not looked at to its end.
  if (Contains(kind == KeyKind::kToken ? "([{<$" : "[{", text.substr(at, 1))) return {};
  SecretValue value;
  const std::string_view quote = QuoteAt(text, at);
  const bool is_query = begin > 0 && (text[begin - 1] == '?' || text[begin - 1] == '&');
  value.begin = at + quote.size();
  value.end = quote.empty() ? EndOfPlain(text, at, sign, is_query, kind)
                            : EndOfQuoted(text, value.begin, quote);
  const std::string_view found = text.substr(value.begin, value.end - value.begin);
  if (!IsSecretValue(found, kind)) return {};
  const bool is_folder = text.substr(begin, end - begin).ends_with("PWD") && found.starts_with('/');
  const bool is_prose = kind == KeyKind::kToken && sign == ':' && quote.empty() &&
                        key_quote.empty() && !BeginsLine(text, begin);
  if (is_folder || (is_prose && !LooksRandom(found))) return {};
  if (quote.empty() && Contains(key_quote, "\"")) value.quote = key_quote;
  return value;
}

}  // namespace debrief::redact
