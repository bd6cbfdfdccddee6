// A store of tokens from any bytes: an error with its place, or a store that reads back as itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "target.hpp"
#include "transport/token.hpp"

namespace seaway::fuzz {

void token_store(std::span<const std::uint8_t> input) {
  using namespace seaway::transport;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  // The same bytes as a token that somebody shows.
  TokenStore one;
  SEAWAY_CHECK(one.issue({.tenant = "a"}, std::array<std::byte, kTokenBytes>{}).ok());
  const bool is_token = text == "swt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  SEAWAY_CHECK((one.check(text, 0).record != nullptr) == is_token);

  auto store = TokenStore::parse(text, "tokens");
  if (!store.ok()) {
    SEAWAY_CHECK(store.status().message().starts_with("tokens"));
    SEAWAY_CHECK(store.status().message().find('\n') == std::string::npos);
    return;
  }
  const auto again = TokenStore::parse(store.value().to_text(), "tokens");
  SEAWAY_CHECK(again.ok());
  SEAWAY_CHECK(again.value().records() == store.value().records());
  for (const TokenRecord& record : again.value().records()) {
    SEAWAY_CHECK(store.value().revoke(record.id).ok());
  }
}

}  // namespace seaway::fuzz
