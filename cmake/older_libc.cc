// What the C++ library takes from a C library newer than the oldest that debrief runs with
// (glibc 2.34). The program's own functions come first, so the newer names are not asked for.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

// glibc 2.36; std::random_device uses it.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) std::abort();
  return number;
}
