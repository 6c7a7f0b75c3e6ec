// The opcodes of pickle protocols 0 to 5, by the names of Python's pickletools.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/pickle/value.h"

namespace debrief::pickle {

enum Op : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kFloat = 'F',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kString = 'S',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kAppend = 'a',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

// Opcodes that name, build or fetch what is not in the file; never carried out.
struct CodeBearing {
  uint8_t opcode;
  std::string_view name;
};
inline constexpr CodeBearing kCodeBearing[] = {
    {'P', "PERSID"},        {'Q', "BINPERSID"},    {'R', "REDUCE"},
    {'b', "BUILD"},         {'c', "GLOBAL"},       {'i', "INST"},
    {'o', "OBJ"},           {0x81, "NEWOBJ"},      {0x82, "EXT1"},
    {0x83, "EXT2"},         {0x84, "EXT4"},        {0x92, "NEWOBJ_EX"},
    {0x93, "STACK_GLOBAL"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
};

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// The number that an argument of 1 to 8 bytes is.
inline uint64_t LittleEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return number;
}

// ---- The text forms of protocol 0: a number or a string on a line.
// "12", "12L", and "01" and "00" for True and False. What does not fit 64 bits is a kBigInt.
bool ParseIntegerLine(std::string_view line, PickleValue& value);

bool ParseFloatLine(std::string_view line, PickleValue& value);

// Python's raw-unicode-escape: \uXXXX and \UXXXXXXXX, all other bytes are Latin-1. To UTF-8; a lone
// surrogate becomes U+FFFD.
bool DecodeUnicodeLine(std::string_view line, std::string& text);

// A quoted string with Python's escapes.
bool DecodeStringLine(std::string_view line, std::string& text);

}  // namespace debrief::pickle
