// Keys whose values are secrets, and where such a value stands:
//
//   WANDB_API_KEY=0123...    "db_password": "x"    password: x      --token x
//   <password>x</password>     password: |  (YAML: the lines below)
//   {"name": "DB_PASSWORD", "value": "x"}          login me password x      \"apiKey\": \"x\"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace debrief::redact {

enum class KeyKind : uint8_t { kNone, kPassword, kToken };

// False, found out fast, when a word that ends with these two bytes ends no such key.
bool MayEndKey(char last_but_one, char last);

// The kind of the whole key, for example "db_password", "wandbApiKey", "x-api-key". Tokens of
// language models (eos_token, num_tokens) are no secrets.
KeyKind KindOfKey(std::string_view key);

struct SecretValue {
  size_t begin = 0;
  size_t end = 0;     // begin: none
  std::string quote;  // of a value that has no quotes where its key has: they are needed then
};

// The value behind the key text[begin, end).
SecretValue ValueOf(std::string_view text, size_t begin, size_t end, KeyKind kind);

}  // namespace debrief::redact
