#include "analyses/profile/roofline/op_args.h"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/text/strings.h"

namespace debrief::analyses::profile_roofline {

namespace {

bool IsListOfTensors(std::string_view element) {
  return element.find('[', 1) != std::string_view::npos;
}

std::vector<Dims> DimsIn(std::string_view list) {
  std::vector<Dims> all;
  for (std::string_view element : ElementsOf(list))
    all.push_back(IsListOfTensors(element) ? Dims() : NumbersOf(element));
  return all;
}

std::vector<std::vector<Dims>> ListsIn(std::string_view list) {
  std::vector<std::vector<Dims>> all;
  for (std::string_view element : ElementsOf(list)) {
    std::vector<Dims>& shapes = all.emplace_back();
    if (!IsListOfTensors(element)) continue;
    for (std::string_view shape : ElementsOf(element)) shapes.push_back(NumbersOf(shape));
  }
  return all;
}

std::vector<std::string> TextsIn(std::string_view list) {
  std::vector<std::string> texts;
  for (std::string_view element : ElementsOf(list)) {
    const bool is_quoted = element.size() >= 2 && element.front() == '"';
    texts.emplace_back(is_quoted ? element.substr(1, element.size() - 2) : element);
  }
  return texts;
}

template <typename T>
const T& At(const std::vector<T>& values, size_t at) {
  static const T kNothing{};
  return at < values.size() ? values[at] : kNothing;
}

}  // namespace

std::vector<std::string_view> ElementsOf(std::string_view list) {
  std::vector<std::string_view> elements;
  list = Trimmed(list);
  if (list.size() < 2 || list.front() != '[') return elements;
  list = list.substr(1, list.size() - 2);
  size_t begin = 0, depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (is_quoted && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted && i < list.size()) continue;
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    const std::string_view element = Trimmed(list.substr(begin, i - begin));
    if (!element.empty() || i < list.size()) elements.push_back(element);
    begin = i + 1;
  }
  return elements;
}

Dims NumbersOf(std::string_view text) {
  Dims numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = next > at ? next : at + 1;
  }
  return numbers;
}

int64_t ProductOf(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return 0;
  }
  return product;
}

const Dims& OpArgs::DimsOf(size_t argument) const { return At(dims, argument); }
std::string_view OpArgs::TypeOf(size_t argument) const { return At(types, argument); }
std::string_view OpArgs::ValueOf(size_t argument) const { return At(values, argument); }
int64_t OpArgs::Elements(size_t argument) const { return ProductOf(DimsOf(argument)); }

int64_t OpArgs::Stored(size_t argument) const {
  const Dims& shape = DimsOf(argument);
  const Dims& steps = At(strides, argument);
  if (steps.size() != shape.size()) return ProductOf(shape);
  Dims stored;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (steps[i] != 0) stored.push_back(shape[i]);
  }
  return ProductOf(stored);
}

int64_t OpArgs::StoredBytes(size_t argument) const {
  return IsTensor(argument) ? Stored(argument) * BytesOfType(TypeOf(argument)) : 0;
}

int64_t OpArgs::ListElements(size_t argument) const {
  int64_t elements = 0;
  for (const Dims& shape : At(lists, argument)) {
    if (__builtin_add_overflow(elements, ProductOf(shape), &elements)) return 0;
  }
  return elements;
}

OpArgs ParseArgs(std::string_view shapes, std::string_view types, std::string_view values,
                 std::string_view strides) {
  return {DimsIn(shapes), DimsIn(strides), TextsIn(types), TextsIn(values), ListsIn(shapes)};
}

int64_t BytesOfType(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 20> kTypes = {{
      {"double", 8},
      {"long int", 8},
      {"long", 8},
      {"unsigned long", 8},
      {"float", 4},
      {"int", 4},
      {"unsigned int", 4},
      {"c10::half", 2},
      {"c10::bfloat16", 2},
      {"short int", 2},
      {"short", 2},
      {"unsigned short", 2},
      {"bool", 1},
      {"signed char", 1},
      {"unsigned char", 1},
      {"c10::complex<double>", 16},
      {"c10::complex<float>", 8},
      {"c10::complex<c10::half>", 4},
      {"c10::float4_e2m1fn_x2", 1},
      {"char", 1},
  }};
  std::string lower;
  for (char c : type) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [name, bytes] : kTypes) {
    if (name == lower) return bytes;
  }
  return lower.starts_with("c10::float8_") ? 1 : 0;
}

int64_t BytesOfScalarType(std::string_view number) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 16> kNumbers = {{
      {"0", 1},
      {"1", 1},
      {"2", 2},
      {"3", 4},
      {"4", 8},
      {"5", 2},
      {"6", 4},
      {"7", 8},
      {"11", 1},
      {"15", 2},
      {"23", 1},
      {"24", 1},
      {"25", 1},
      {"26", 1},
      {"44", 1},
      {"45", 1},
  }};
  for (const auto& [known, bytes] : kNumbers) {
    if (known == number) return bytes;
  }
  return 0;
}

}  // namespace debrief::analyses::profile_roofline
