#include "base/bytes/md5.h"

#include <gtest/gtest.h>

#include <string>

namespace debrief {
namespace md5_test {

// RFC 1321, appendix A.5.
TEST(Md5, VectorsOfTheRfc) {
  EXPECT_EQ(Md5Hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(Md5Hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(Md5Hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(Md5Hex("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(Md5Hex("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(
      Md5Hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
      "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, PiecesGiveTheSameAsTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t size = 0; size <= text.size(); ++size) {
    Md5 whole;
    whole.Update({text.data(), size});
    Md5 pieces;
    for (size_t at = 0, step = 1; at < size; at += step, step = step % 70 + 3) {
      pieces.Update(std::string_view(text).substr(at, std::min(step, size - at)));
    }
    ASSERT_EQ(whole.Final(), pieces.Final()) << size;
  }
}

TEST(Md5, ManyBlocks) {
  EXPECT_EQ(Md5Hex(std::string(1'000'000, 'a')), "7707d6ae4e027c70eea2a935c2296f21");
}

}  // namespace md5_test
}  // namespace debrief
