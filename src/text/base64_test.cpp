#include "text/base64.hpp"

#include <gtest/gtest.h>

#include <string>

namespace lastbit::text {
namespace {

TEST(Base64, DecodesTheVectorsOfRfc4648) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
}

TEST(Base64, DecodesEveryByteValue) {
  EXPECT_EQ(decode_base64("AAEC/f7/+/+/"), std::string("\x00\x01\x02\xFD\xFE\xFF\xFB\xFF\xBF", 9));
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  for (const char* digits :
       {"Z", "Zg", "Zg=", "=", "====", "Z===", "Zm9v=", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zm-_"}) {
    EXPECT_EQ(decode_base64(digits), std::nullopt) << digits;
  }
}

}  // namespace
}  // namespace lastbit::text
