#include "text/piece_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lastbit::text {
namespace {

TEST(PieceTable, FindsEveryPieceAndNothingElse) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 5000; ++i)
    pieces.push_back(std::string(static_cast<std::size_t>(i % 7), 'p') + std::to_string(i));
  PieceTable table(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(table.insert(pieces[i], static_cast<TokenId>(i)), kNoToken);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(table.find(pieces[i]), static_cast<TokenId>(i));
    EXPECT_EQ(table.find("q" + pieces[i]), kNoToken);
  }
  EXPECT_EQ(table.find(""), kNoToken);
}

TEST(PieceTable, KeepsTheFirstOfTwoEqualPieces) {
  PieceTable table(2);
  EXPECT_EQ(table.insert("a", 7), kNoToken);
  EXPECT_EQ(table.insert("a", 8), 7);
  EXPECT_EQ(table.find("a"), 7);
}

TEST(PieceTrie, FindsTheLongestPieceATextStartsWith) {
  PieceTrie trie;
  EXPECT_EQ(trie.insert("ab", 1), kNoToken);
  EXPECT_EQ(trie.insert("abcd", 2), kNoToken);
  EXPECT_EQ(trie.insert("\xFF", 3), kNoToken);
  EXPECT_EQ(trie.insert("ab", 4), 1);
  EXPECT_EQ(trie.longest_prefix("abcde").id, 2);
  EXPECT_EQ(trie.longest_prefix("abcde").length, 4U);
  EXPECT_EQ(trie.longest_prefix("abcx").id, 1);  // the way to abcd ends nowhere: back to what was found before
  EXPECT_EQ(trie.longest_prefix("abcx").length, 2U);
  EXPECT_EQ(trie.longest_prefix("a").id, kNoToken);
  EXPECT_EQ(trie.longest_prefix("").id, kNoToken);
  EXPECT_EQ(trie.longest_prefix("\xFF").id, 3);
}

}  // namespace
}  // namespace lastbit::text
