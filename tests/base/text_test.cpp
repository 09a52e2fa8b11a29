#include "base/text.hpp"

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(Text, ReadsSizesAsPeopleWriteThem) {
  EXPECT_EQ(parse_size("100"), 100u);
  EXPECT_EQ(parse_size("1k"), 1024u);
  EXPECT_EQ(parse_size("512M"), 512u << 20);
  EXPECT_EQ(parse_size("4GiB"), 4ull << 30);
  EXPECT_EQ(parse_size("1.5 gb"), 3ull << 29);
  EXPECT_EQ(parse_size("2Gi"), 2ull << 30);
  for (const std::string wrong :
       {"", "x", "-1", "4Q", "4GiBs", "4Gis", "4i", "1e3", "nan", "99999999999Q", "-99999999999E"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  for (const std::string large : {"99999999999E", "16EiB", "18446744073709551616"})
    EXPECT_EQ(parse_size(large), size_too_large) << large;
  EXPECT_EQ(parse_size(std::string(400, '9')), size_too_large);
}

TEST(Text, ReadsNumbersThatFit) {
  EXPECT_EQ(parse_number("18446744073709551615"), UINT64_MAX);
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "1.0", "18446744073709551616"})
    EXPECT_FALSE(parse_number(wrong)) << wrong;
}

TEST(Text, WritesForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "arc", "arcs"), "1 arc");
  EXPECT_EQ(counted(1234, "arc", "arcs"), "1,234 arcs");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(printable("a\x01"
                      "b\n"),
            "a\\x01b\\x0a");
}

TEST(Text, EscapesWhatATerminalCannotShow) {
  EXPECT_EQ(printable("Zoë, 東京, 🜁"), "Zoë, 東京, 🜁");
  EXPECT_EQ(printable("\x89PNG\xff\xfe"), "\\x89PNG\\xff\\xfe");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\xc2\\x9b1m")
      << "a control beyond ASCII";
  EXPECT_EQ(printable("\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80", 100),
            "\\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80")
      << "overlong, half of a pair, beyond the last";
  EXPECT_EQ(printable("a\xe6\x9d"), "a\\xe6\\x9d") << "cut off";
  EXPECT_EQ(printable("東京", 2), "東…") << "a limit cuts no character";
}

TEST(Text, FindsTheNearestWord) {
  EXPECT_EQ(nearest_word("degres", {"bfs", "degrees"}), "degrees");
  EXPECT_EQ(nearest_word("scael", {"degree", "scale"}), "scale") << "a swap of neighbours is one mistake";
  EXPECT_EQ(nearest_word("und", {"--x", "undirected"}), "undirected");
  EXPECT_EQ(nearest_word("--sourc", {"--sources", "--source"}), "--source") << "the one that lacks least";
  EXPECT_FALSE(nearest_word("zebra", {"bfs", "degrees"}));
}

}  // namespace
}  // namespace spillway
