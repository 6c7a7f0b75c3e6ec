// Forms of dicts: what one pickle tells of the next.
#include "base/pickle/dict_forms.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "base/bytes/source.h"

namespace debrief {
namespace {

using namespace std::string_literals;

// From the mark to SETITEMS: a text from before the dict, a number, and a list that is put and
// fetched again. `put` is the number of the list.
std::string Dict(char number, char put, char text = '\1') {
  const std::string list(1, put);
  return "(h"s + text + "K" + number + "U\1a]q" + list + "U\1bh" + list + "u";
}
constexpr size_t kItems = 6, kPuts = 1;

std::string Padded(const std::string& bytes) { return bytes + std::string(kPadding, '\0'); }

TEST(DictForms, NumbersAndNewMemoNumbersMayDiffer) {
  const std::optional<DictForm> form = DictForm::Of(Dict(5, 9), {9, 8}, kItems, kPuts);
  ASSERT_TRUE(form);
  const auto matches = [&](const std::string& dict, uint64_t memo_size) {
    const std::string padded = Padded(dict);
    return form->Matches(padded.data(), dict.size(), memo_size);
  };
  EXPECT_TRUE(matches(Dict(6, 9), 9));
  EXPECT_TRUE(matches(Dict(6, 20), 20));
  EXPECT_FALSE(matches(Dict(6, 20), 21)) << "the list has another number there";
  EXPECT_FALSE(matches(Dict(6, 9, 2), 9)) << "another text";
  const std::string dict = Dict(6, 9);
  const std::string padded = Padded(dict);
  EXPECT_FALSE(form->Matches(padded.data(), dict.size() - 1, 9)) << "cut";
  std::array<PickleValue, kItems> items;
  items.fill(PickleValue::Int(0));
  form->ReadNumbers(padded.data(), items);
  EXPECT_EQ(items[1].number, 6);
  EXPECT_EQ(items[0].number, 0);
}

TEST(DictForms, WhatItFetchesMustBeFromBefore) {
  const std::optional<DictForm> form = DictForm::Of(Dict(5, 9, 7), {9, 8}, kItems, kPuts);
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->Fits({8, 8}, kItems, kPuts));
  EXPECT_FALSE(form->Fits({7, 6}, kItems, kPuts)) << "7 is put by the dict itself there";
  EXPECT_FALSE(form->Fits({8, 7}, kItems, kPuts)) << "7 is the dict itself there";
  EXPECT_FALSE(form->Fits({8, 8}, kItems, kPuts + 1));
  EXPECT_FALSE(DictForm::Of(Dict(5, 9, 8), {9, 8}, kItems, kPuts)) << "it holds itself";
}

TEST(DictForms, AreFoundByTheirBytes) {
  DictForms forms;
  const std::string dict = Padded(Dict(5, 9)), later = Padded(Dict(6, 20)),
                    other = Padded(Dict(5, 9, 2));
  const auto text = [](const std::string& padded) {
    return std::string_view(padded).substr(0, padded.size() - kPadding);
  };
  EXPECT_EQ(forms.Find(text(dict), {9, 8}, kItems, kPuts), nullptr);
  std::optional<DictForm> form = DictForm::Of(text(dict), {9, 8}, kItems, kPuts);
  ASSERT_TRUE(form);
  const DictForm* kept = forms.Add(*form);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(forms.Find(text(dict), {9, 8}, kItems, kPuts), kept);
  EXPECT_EQ(forms.Find(text(later), {20, 19}, kItems, kPuts), kept);
  EXPECT_EQ(forms.Find(text(other), {9, 8}, kItems, kPuts), nullptr);
}

TEST(DictForms, AreBounded) {
  DictForms forms;
  size_t kept = 0;
  for (int number = 0; number < 100; ++number) {
    std::optional<DictForm> form = DictForm::Of(Dict(5, 9), {9, 8}, kItems, kPuts);
    ASSERT_TRUE(form);
    kept += forms.Add(*form) != nullptr ? 1 : 0;
    if (kept <= static_cast<size_t>(number)) EXPECT_EQ(form->item_count(), kItems);  // not taken
  }
  EXPECT_GT(kept, 10u);
  EXPECT_LT(kept, 100u);
}

}  // namespace
}  // namespace debrief
