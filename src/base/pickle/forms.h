// What follows each opcode of a pickle.
#pragma once

#include <array>
#include <cstdint>

#include "base/pickle/ops.h"

namespace debrief::pickle {

enum class Argument : uint8_t { kUnknown, kBytes, kCounted, kLine };

struct Form {
  Argument argument = Argument::kUnknown;
  uint8_t bytes = 0;  // of the argument, or of the length in front of it
};

constexpr std::array<Form, 256> MakeForms() {
  std::array<Form, 256> forms{};
  for (uint8_t op :
       {kMark,    kPop,    kPopMark,   kDup,      kNone,     kAppend,     kDict,      kEmptyDict,
        kAppends, kList,   kEmptyList, kSetItem,  kTuple,    kEmptyTuple, kSetItems,  kTuple1,
        kTuple2,  kTuple3, kNewTrue,   kNewFalse, kEmptySet, kAddItems,   kFrozenSet, kMemoize})
    forms[op] = {Argument::kBytes, 0};
  for (uint8_t op : {kBinInt1, kBinGet, kBinPut, kProto}) forms[op] = {Argument::kBytes, 1};
  forms[kBinInt2] = {Argument::kBytes, 2};
  for (uint8_t op : {kBinInt, kLongBinGet, kLongBinPut}) forms[op] = {Argument::kBytes, 4};
  for (uint8_t op : {kBinFloat, kFrame}) forms[op] = {Argument::kBytes, 8};
  for (uint8_t op : {kFloat, kInt, kLong, kString, kUnicode, kGet, kPut})
    forms[op] = {Argument::kLine, 0};
  for (uint8_t op : {kShortBinString, kShortBinBytes, kLong1, kShortBinUnicode})
    forms[op] = {Argument::kCounted, 1};
  for (uint8_t op : {kBinString, kBinUnicode, kBinBytes, kLong4})
    forms[op] = {Argument::kCounted, 4};
  for (uint8_t op : {kBinUnicode8, kBinBytes8, kByteArray8}) forms[op] = {Argument::kCounted, 8};
  return forms;
}

inline constexpr std::array<Form, 256> kForms = MakeForms();

}  // namespace debrief::pickle
