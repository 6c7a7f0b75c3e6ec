// What redaction replaces, and how often it did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debrief::redact {

enum class Secret : uint8_t {
  kToken,        // access tokens and API keys, signed web tokens, bearer headers
  kPassword,     // values of keys that are named like one
  kPrivateKey,   // the text of a PEM block
  kCredentials,  // user:password@ of an address
  kEmail,
  kUser,
  kHost,
  kAddress,   // IPv4 and IPv6
  kShape,     // only when asked for
  kFileName,  // only when asked for
};
inline constexpr size_t kSecretKinds = 10;

// As it stands in the manifest: "token", "private key".
constexpr std::string_view SecretName(Secret kind) {
  constexpr std::array<std::string_view, kSecretKinds> kNames = {
      "token",          "password",  "private key", "credentials in an address",
      "e-mail address", "user name", "host name",   "IP address",
      "tensor shape",   "file name"};
  return kNames[static_cast<size_t>(kind)];
}

using Counts = std::array<uint64_t, kSecretKinds>;

struct Options {
  bool shapes = false;  // numbers of tensor shapes
  bool files = false;   // names of files and folders in paths that are not of a library
};

}  // namespace debrief::redact
