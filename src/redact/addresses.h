// Addresses of machines and people in a text: IPv4, IPv6, e-mail, and user:password@ of a URL.
#pragma once

#include <cstddef>
#include <string_view>

namespace debrief::redact {

// Bytes of the address that begins at text[at], 0 for none. Addresses that are the same everywhere
// (127.0.0.1, ::1, 0.0.0.0) and versions of packages (==12.4.5.8) are none.
size_t IPv4At(std::string_view text, size_t at);
size_t IPv6At(std::string_view text, size_t at);
// `at`: where the part before the @ begins.
size_t EmailAt(std::string_view text, size_t at);

// Bytes before the @ of an address whose "//" ends before text[at]; 0 when it has none.
size_t CredentialsAt(std::string_view text, size_t at);

bool IsLocalPartByte(char c);

}  // namespace debrief::redact
