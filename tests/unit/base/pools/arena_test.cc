#include "base/pools/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace debrief {
namespace arena_test {

TEST(Arena, PiecesAreAlignedAndApart) {
  Arena arena;
  std::mt19937 random(7);
  struct Piece {
    char* data;
    size_t size;
    char fill;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 5000; ++i) {
    size_t size = i % 100 == 0 ? random() % 3'000'00 : random() % 50;
    size_t alignment = size_t{1} << (random() % 5);
    char* data = arena.Allocate(size, alignment);
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    char fill = static_cast<char>(i);
    std::memset(data, fill, size);
    pieces.push_back({data, size, fill});
  }
  for (const Piece& piece : pieces) {
    ASSERT_EQ(std::string(piece.data, piece.size), std::string(piece.size, piece.fill));
  }
}

TEST(Arena, CopiesOutliveTheirText) {
  Arena arena;
  std::string text = "hello";
  std::string_view copy = arena.Copy(text);
  text = "other";
  EXPECT_EQ(copy, "hello");
  EXPECT_EQ(arena.Copy(""), "");
  EXPECT_EQ(arena.Copy(std::string_view()), "");
}

TEST(Arena, SmallUseStaysSmall) {
  Arena arena;
  EXPECT_EQ(arena.bytes_reserved(), 0u);
  arena.Allocate(1);
  EXPECT_LE(arena.bytes_reserved(), 4096u);
  for (int i = 0; i < 1'000'000; ++i) arena.Allocate(8, 8);
  EXPECT_LE(arena.bytes_reserved(), 10'000'000u);
}

TEST(Arena, MovesWithItsBlocks) {
  Arena first;
  std::string_view text = first.Copy("kept");
  Arena second = std::move(first);
  EXPECT_EQ(text, "kept");
  // The old one must begin anew, not write into what it gave away.
  std::string_view other = first.Copy("new");  // NOLINT: used after move on purpose
  std::string_view next = second.Copy("next");
  EXPECT_EQ(other, "new");
  EXPECT_EQ(next, "next");
  EXPECT_EQ(text, "kept");
  second = Arena();
  EXPECT_EQ(second.bytes_reserved(), 0u);
}

}  // namespace arena_test
}  // namespace debrief
