// The one place where an exception of DuckDB ends (see Guarded in duckdb_api.h). Compiled with
// exceptions, which the rest of core is not.
#include <exception>
#include <string>
#include <utility>

#include "outputs/store/duckdb_api.h"

namespace debrief::outputs::store {

namespace {

thread_local std::string thrown;

// Of most types zero says that there is nothing; of a state it would say that all went well.
template <typename R>
R FailedResult() {
  if constexpr (std::is_same_v<R, duckdb_state>) {
    return DuckDBError;
  } else {
    return R();
  }
}

}  // namespace

std::string ThrownText() { return std::exchange(thrown, {}); }

template <typename R, typename... Args, R (*kName)(Args...)>
R Guarded<kName>::operator()(Args... args) const {
  try {
    return function(args...);
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "an unknown exception";
  }
  return FailedResult<R>();
}

#define DEBRIEF_DUCKDB_GUARD(name) template struct Guarded<&::duckdb_##name>;
DEBRIEF_DUCKDB_FUNCTIONS(DEBRIEF_DUCKDB_GUARD)
#undef DEBRIEF_DUCKDB_GUARD

}  // namespace debrief::outputs::store
