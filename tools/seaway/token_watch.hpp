// TokenWatch: the list of tokens of a cluster, read again when its file has changed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "seaway/status.hpp"
#include "transport/token.hpp"

namespace seaway::tools {

class TokenWatch {
 public:
  explicit TokenWatch(std::string path) : path_(std::move(path)) {}

  /// The store, if its file is another one than when this was called last; an absent one holds
  /// nothing. Errors: those of load_token_store(), again each time until it can be read.
  std::optional<Result<transport::TokenStore>> changed();

 private:
  struct Look {
    std::uint64_t file = 0, bytes = 0;
    std::int64_t time_ns = 0;
    friend bool operator==(const Look&, const Look&) = default;
  };
  const std::string path_;
  std::optional<Look> seen_;
};

}  // namespace seaway::tools
