// Tokens: what a store takes and keeps, and who is let in.

#include "transport/token.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/real_disk.hpp"

namespace seaway::transport {
namespace {

using Bits = std::array<std::byte, kTokenBytes>;

/// Bits that are told apart by `number`, and are zero otherwise.
Bits bits(std::uint32_t number) {
  Bits bits{};
  for (std::size_t index = 0; index < 4; ++index) {
    bits[index] = static_cast<std::byte>(number >> (8 * index));
  }
  return bits;
}

std::string issue(TokenStore& store, std::uint32_t number, TokenStore::Terms terms = {}) {
  if (terms.tenant.empty()) terms.tenant = "physics";
  return store.issue(terms, bits(number)).value();
}

/// A line of a store with one thing other than usual.
struct Line {
  std::string id = "a", hash = std::string(64, '0'), tenant = "physics", role = "client",
              expiry = "0", quota = "0", state = "active";
};
std::string text_of(const Line& line) {
  return line.id + " " + line.hash + " " + line.tenant + " " + line.role + " " + line.expiry + " " +
         line.quota + " " + line.state + "\n";
}
std::string numbered(std::uint32_t number) {
  std::string hash = std::to_string(number);
  return text_of({.id = "id" + hash, .hash = std::string(64 - hash.size(), '0') + hash});
}
std::string told(std::string_view text) { return TokenStore::parse(text, "tokens").to_string(); }

TEST(Token, IsPrintedInBase64OfUrls) {
  TokenStore store;
  Bits all;
  all.fill(std::byte{0xff});

  EXPECT_EQ(store.issue({.tenant = "a"}, bits(0)).value(), "swt_" + std::string(43, 'A'));
  EXPECT_EQ(store.issue({.tenant = "a"}, all).value(), "swt_" + std::string(42, '_') + "8");
  EXPECT_EQ(store.issue({.tenant = "a"}, bits(0x03020100)).value().substr(0, 10), "swt_AAECAw");
}

TEST(TokenStore, KnowsAHashAndNeverTheToken) {
  TokenStore store;

  const std::string token = issue(store, 0);

  EXPECT_EQ(store.to_text().find(token.substr(4)), std::string::npos);
  // SHA-256 of 32 zeros.
  EXPECT_NE(
      store.to_text().find(
          "\n66687aadf862bd77 66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925 "
          "physics client 0 0 active\n"),
      std::string::npos)
      << store.to_text();
}

TEST(TokenStore, LetsInWhoHasAToken) {
  TokenStore store;
  std::vector<std::string> tokens;
  for (std::uint32_t number = 0; number < 20; ++number) {
    tokens.push_back(issue(store, number, {.tenant = "t" + std::to_string(number)}));
  }

  for (std::uint32_t number = 0; number < 20; ++number) {
    const auto check = store.check(tokens[number], 0);
    ASSERT_TRUE(check.told.ok());
    EXPECT_EQ(check.record->tenant, "t" + std::to_string(number));
  }
}

TEST(TokenStore, RefusesAllOthersInTheSameWordsAndLogsWhy) {
  TokenStore store;
  const std::string expired = issue(store, 1, {.tenant = "", .expiry_s = 100});
  const std::string revoked = issue(store, 2);
  ASSERT_TRUE(store.revoke(store.records()[1].id).ok());
  TokenStore other;
  const std::string unknown = issue(other, 3);
  const Status refusal(StatusCode::kUnauthenticated,
                       "the token is not accepted; ask whoever runs the cluster for another one");

  for (const auto& [token, log] : std::vector<std::pair<std::string, std::string>>{
           {expired, "token " + store.records()[0].id + " has expired"},
           {revoked, "token " + store.records()[1].id + " is revoked"},
           {unknown, "no token is like the one that was shown"},
           {"", "what was shown is no token"},
           {expired + "A", "what was shown is no token"},
           {"swt-" + expired.substr(4), "what was shown is no token"},
           {expired.substr(0, 46) + "!", "what was shown is no token"}}) {
    const auto check = store.check(token, 100);
    EXPECT_EQ(check.record, nullptr) << token;
    EXPECT_EQ(check.told, refusal) << token;
    EXPECT_EQ(check.log, log) << token;
  }
}

TEST(TokenStore, OneTokenHasOneText) {
  TokenStore store;
  const std::string token = issue(store, 0);

  EXPECT_TRUE(store.check(token, 0).told.ok());
  // The last letter holds four bits of the token and two that are always zero.
  EXPECT_FALSE(store.check(token.substr(0, 46) + "B", 0).told.ok());
}

TEST(TokenStore, ATokenIsGoodUntilTheSecondBeforeItExpires) {
  TokenStore store;
  const std::string token = issue(store, 1, {.tenant = "", .expiry_s = 100});

  EXPECT_TRUE(store.check(token, 99).told.ok());
  EXPECT_FALSE(store.check(token, 100).told.ok());
}

TEST(TokenStore, ReadsWhatItWrites) {
  TokenStore store;
  issue(store, 1);
  issue(store, 2,
        {.tenant = "a.B_c-9",
         .role = TokenRole::kWorker,
         .expiry_s = ~std::uint64_t{0},
         .quota_bytes = 1 << 30});
  issue(store, 3, {.tenant = "x", .role = TokenRole::kAdmin});
  ASSERT_TRUE(store.revoke(store.records()[2].id).ok());

  const TokenStore again = TokenStore::parse(store.to_text(), "tokens").value();

  EXPECT_EQ(again.records(), store.records());
  EXPECT_TRUE(again.records()[2].is_revoked);
}

TEST(TokenStore, RevokesByIdAndSaysWhichItDoesNotKnow) {
  TokenStore store;
  issue(store, 1);
  const std::string id = store.records()[0].id;

  EXPECT_TRUE(store.revoke(id).ok());
  EXPECT_TRUE(store.revoke(id).ok());
  EXPECT_EQ(store.revoke("abc"),
            not_found("no token has the id 'abc'; `seaway token list` shows all"));
}

TEST(TokenStore, SaysWhichWordOfWhichLineIsWrong) {
  const std::string begin = "# A comment, and an empty line.\n\n";
  const std::string place = "INVALID_ARGUMENT: tokens:3: ";
  EXPECT_EQ(told(begin + text_of({})), "OK");
  EXPECT_EQ(told(begin + "a b\n"), place + "a token has 7 words with one space between each two");
  EXPECT_EQ(told(begin + text_of({.state = "active "})),
            place + "a token has 7 words with one space between each two");
  EXPECT_EQ(told(begin + text_of({.id = "a/b"})),
            place + "word 1 is no id: 1 to 32 letters, digits, '.', '_' and '-'");
  EXPECT_EQ(told(begin + text_of({.hash = std::string(64, 'A')})),
            place + "word 2 is no SHA-256: 64 digits of 0..9 and a..f");
  EXPECT_EQ(told(begin + text_of({.hash = std::string(63, 'a')})),
            place + "word 2 is no SHA-256: 64 digits of 0..9 and a..f");
  EXPECT_EQ(told(begin + text_of({.tenant = ""})),
            place + "word 3 is no tenant: 1 to 256 letters, digits, '.', '_' and '-'");
  EXPECT_EQ(told(begin + text_of({.role = "root"})),
            place + "word 4 is no role: client, worker or admin");
  EXPECT_EQ(told(begin + text_of({.expiry = "-1"})),
            place + "word 5 is no expiry: seconds of UTC, or 0");
  EXPECT_EQ(told(begin + text_of({.quota = "1GB"})), place + "word 6 is no quota: bytes, or 0");
  EXPECT_EQ(told(begin + text_of({.state = "revoke"})),
            place + "word 7 is neither active nor revoked");
}

TEST(TokenStore, IsNotCutOff) {
  const std::string text = text_of({});

  EXPECT_EQ(
      told(text.substr(0, text.size() - 1)),
      "INVALID_ARGUMENT: tokens: the last line does not end: the file is cut off; restore it");
  EXPECT_EQ(told(""), "OK");
}

TEST(TokenStore, HasNoTokenTwice) {
  EXPECT_EQ(told(text_of({}) + "\n" + text_of({.hash = std::string(64, '1')})),
            "INVALID_ARGUMENT: tokens:3: the token of line 1 is here once more; remove one");
  EXPECT_EQ(told(text_of({}) + text_of({.id = "b"})),
            "INVALID_ARGUMENT: tokens:2: the token of line 1 is here once more; remove one");
  TokenStore store;
  issue(store, 1);
  EXPECT_EQ(store.issue({.tenant = "x"}, bits(1)).status().code(), StatusCode::kInvalidArgument);
}

TEST(TokenStore, AnIdAndATenantHaveLimits) {
  EXPECT_EQ(told(text_of({.id = std::string(32, 'a')})), "OK");
  EXPECT_NE(told(text_of({.id = std::string(33, 'a')})), "OK");
  EXPECT_EQ(told(text_of({.tenant = std::string(256, 'a')})), "OK");
  EXPECT_NE(told(text_of({.tenant = std::string(257, 'a')})), "OK");
  TokenStore store;
  EXPECT_TRUE(store.issue({.tenant = std::string(256, 'a')}, bits(1)).ok());
  EXPECT_EQ(store.issue({.tenant = std::string(257, 'a')}, bits(2)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      store.issue({.tenant = "a b"}, bits(2)).to_string(),
      "INVALID_ARGUMENT: a tenant is called by 1 to 256 letters, digits, '.', '_' and '-', and "
      "not 'a b'");
}

TEST(TokenStore, ATextHasALimit) {
  EXPECT_EQ(told(std::string(TokenStore::kTextBytesMax, '\n')), "OK");
  EXPECT_EQ(told(std::string(TokenStore::kTextBytesMax + 1, '\n')),
            "RESOURCE_EXHAUSTED: tokens has more than 1048576 bytes; no store of tokens has");
}

TEST(TokenStore, HasAtMostTenThousandTokens) {
  // The shortest lines: ten thousand of them fit into the text.
  std::string text;
  for (std::uint32_t number = 0; number < TokenStore::kTokensMax; ++number) {
    text += numbered(number);
  }

  auto full = TokenStore::parse(text, "tokens");

  ASSERT_TRUE(full.ok()) << full.to_string();
  EXPECT_EQ(told(text + numbered(TokenStore::kTokensMax)),
            "RESOURCE_EXHAUSTED: tokens:10001: more than 10000 tokens; remove those that are "
            "revoked or expired");
  EXPECT_EQ(full->issue({.tenant = "x"}, bits(1)).status().code(), StatusCode::kResourceExhausted);
  TokenStore last = TokenStore::parse(text.substr(numbered(0).size()), "tokens").value();
  EXPECT_TRUE(last.issue({.tenant = "x"}, bits(1)).ok());
  EXPECT_FALSE(last.issue({.tenant = "x"}, bits(2)).ok());
}

TEST(TokenStore, WhatItIssuesCanBeReadBackToTheLast) {
  TokenStore store;
  const TokenStore::Terms terms = {.tenant = std::string(256, 'a'), .expiry_s = ~std::uint64_t{0}};
  std::uint32_t number = 0;
  while (store.issue(terms, bits(number)).ok()) ++number;
  for (const TokenRecord& record : store.records()) ASSERT_TRUE(store.revoke(record.id).ok());

  EXPECT_LT(number, TokenStore::kTokensMax);
  EXPECT_EQ(store.issue(terms, bits(number)).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(TokenStore::parse(store.to_text(), "tokens").ok());
  // Not much more would have fitted.
  EXPECT_GT(store.to_text().size() + 2 * 400, TokenStore::kTextBytesMax);
}

TEST(TokenRoles, HaveNames) {
  for (const TokenRole role : {TokenRole::kClient, TokenRole::kWorker, TokenRole::kAdmin}) {
    EXPECT_EQ(parse_token_role(to_string(role)).value(), role);
  }
  EXPECT_EQ(parse_token_role("root").to_string(),
            "INVALID_ARGUMENT: there is no role 'root'; there are: client, worker, admin");
}

/// A disk whose call number `fails_at` fails; one of its files counts as the disk itself.
class FailingDisk final : public Disk {
 public:
  FailingDisk(Disk& disk, int fails_at) : disk_(disk), fails_at_(fails_at) {}
  bool has_failed() const { return calls_ > fails_at_; }

  Result<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override {
    if (fails()) return failure();
    auto file = disk_.open(path, mode);
    if (!file.ok()) return file.status();
    return std::unique_ptr<File>(std::make_unique<Opened>(*this, std::move(*file)));
  }
  Status rename(std::string_view from, std::string_view to) override {
    return fails() ? failure() : disk_.rename(from, to);
  }
  Status remove(std::string_view path) override { return disk_.remove(path); }
  Status make_directory(std::string_view path) override { return disk_.make_directory(path); }
  Result<std::vector<std::string>> list(std::string_view path) override { return disk_.list(path); }
  Status sync_directory(std::string_view path) override {
    return fails() ? failure() : disk_.sync_directory(path);
  }

 private:
  class Opened final : public File {
   public:
    Opened(FailingDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    Result<std::uint64_t> size() const override { return file_->size(); }
    Result<std::vector<std::byte>> read(std::uint64_t offset, std::size_t max) const override {
      if (disk_.fails()) return disk_.failure();
      return file_->read(offset, max);
    }
    Status append(std::span<const std::byte> bytes) override {
      return disk_.fails() ? disk_.failure() : file_->append(bytes);
    }
    Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
      return file_->write_at(offset, bytes);
    }
    Status sync() override { return disk_.fails() ? disk_.failure() : file_->sync(); }

   private:
    FailingDisk& disk_;
    const std::unique_ptr<File> file_;
  };

  bool fails() { return calls_++ == fails_at_; }
  Status failure() const { return {StatusCode::kDataCorruption, "the disk fails"}; }

  Disk& disk_;
  const int fails_at_;
  int calls_ = 0;
};

class TokenFile : public testing::Test {
 protected:
  TokenFile() {
    std::string path = testing::TempDir() + "seaway-tokens-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) path_ = path;
    disk = std::make_unique<RealDisk>(path_);
  }
  ~TokenFile() override {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  mode_t rights(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat((path_ + "/" + name).c_str(), &found), 0);
    return found.st_mode & 07777;
  }
  Status add(Disk& where, std::uint32_t number) {
    return change_token_store(where, "tokens", [number](TokenStore& store) {
      issue(store, number);
      return Status();
    });
  }
  std::size_t count() { return load_token_store(*disk, "tokens").value().records().size(); }

  std::unique_ptr<Disk> disk;

 private:
  std::string path_ = "/nowhere";
};

TEST_F(TokenFile, IsMadeByTheFirstChangeForItsOwnerAlone) {
  EXPECT_EQ(load_token_store(*disk, "tokens").status().code(), StatusCode::kNotFound);

  ASSERT_TRUE(add(*disk, 1).ok());
  EXPECT_EQ(rights("tokens"), 0600u);
  ASSERT_TRUE(add(*disk, 2).ok());

  EXPECT_EQ(rights("tokens"), 0600u);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(disk->list("").value(), std::vector<std::string>{"tokens"});
}

TEST_F(TokenFile, StaysAsItWasWhenAChangeIsRefused) {
  ASSERT_TRUE(add(*disk, 1).ok());

  const Status status = change_token_store(*disk, "tokens", [](TokenStore& store) {
    issue(store, 2);
    return store.revoke("nobody");
  });

  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(disk->list("").value(), std::vector<std::string>{"tokens"});
}

TEST_F(TokenFile, IsChangedByOneProcessAtATime) {
  const auto held = disk->open("tokens.new", OpenMode::kNew);

  const Status status = add(*disk, 1);

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("another process is changing the tokens, or was killed"),
            std::string::npos);
  EXPECT_NE(status.message().find("if none is, remove tokens.new"), std::string::npos);
}

TEST_F(TokenFile, IsWholeWhicheverCallOfTheDiskFails) {
  ASSERT_TRUE(add(*disk, 0).ok());
  for (int fails_at = 0;; ++fails_at) {
    const std::size_t before = count();
    FailingDisk failing(*disk, fails_at);

    const Status status = add(failing, static_cast<std::uint32_t>(fails_at + 1));

    if (!failing.has_failed()) {
      EXPECT_TRUE(status.ok());
      // Opened twice, read, appended, synced, renamed, and its directory synced.
      EXPECT_EQ(fails_at, 7);
      break;
    }
    EXPECT_EQ(status.code(), StatusCode::kDataCorruption) << fails_at;
    // Only the last call is behind the point at which the new one is in its place.
    EXPECT_EQ(count(), before + (fails_at == 6 ? 1 : 0)) << fails_at;
    EXPECT_EQ(disk->list("").value(), std::vector<std::string>{"tokens"}) << fails_at;
  }
}

TEST_F(TokenFile, IsNotReplacedByOneThatCouldNotBeRead) {
  // Written by hand: full, and without the first line, which every change adds.
  std::string text;
  Line line;
  const auto room = [&text] { return TokenStore::kTextBytesMax - text.size(); };
  for (std::uint32_t number = 100'000; room() > text_of(Line()).size() + 13; ++number) {
    line.id = "id" + std::to_string(number);
    line.hash = std::string(58, '0') + std::to_string(number);
    line.tenant = std::string(1, 'a');
    line.tenant.resize(std::min<std::size_t>(256, room() - text_of(line).size() + 1), 'a');
    text += text_of(line);
  }
  {
    const auto file = disk->open("tokens", OpenMode::kNew);
    ASSERT_TRUE((*file)->append(std::as_bytes(std::span(text))).ok());
  }
  ASSERT_TRUE(load_token_store(*disk, "tokens").ok());

  const Status status = change_token_store(
      *disk, "tokens", [](TokenStore& store) { return store.revoke(store.records()[0].id); });

  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(load_token_store(*disk, "tokens").ok());
}

}  // namespace
}  // namespace seaway::transport
