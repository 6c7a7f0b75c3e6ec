// Access tokens that are known by how they begin: Hugging Face, GitHub, GitLab, AWS, Google, Slack,
// OpenAI, Anthropic, NVIDIA, Weights & Biases and others; and JSON web tokens.
#pragma once

#include <cstddef>
#include <string_view>

namespace debrief::redact {

struct Token {
  size_t kept = 0;    // bytes in front that may stay: the address of a webhook
  size_t length = 0;  // in all; 0: none
};

// The token that begins at text[at].
Token TokenAt(std::string_view text, size_t at);

// Whether one may begin with this byte.
bool MayBeginToken(char c);

// Letters, digits, and what tokens and base64 have besides.
bool IsTokenByte(char c);

}  // namespace debrief::redact
