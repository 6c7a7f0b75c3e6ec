#include "accel/keys.h"

#include "base/check.h"

namespace debrief::accel {

StringPool MakeStrings() {
  StringPool strings;
#define DEBRIEF_ACCEL_KEY(name, text) DEBRIEF_CHECK(strings.Intern(text) == key::k##name);
  DEBRIEF_ACCEL_KEYS(DEBRIEF_ACCEL_KEY)
#undef DEBRIEF_ACCEL_KEY
  return strings;
}

}  // namespace debrief::accel
