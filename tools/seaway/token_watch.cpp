// The store is replaced as a whole, so that each change is another file.

#include "token_watch.hpp"

#include <sys/stat.h>

#include "private_files.hpp"

namespace seaway::tools {

std::optional<Result<transport::TokenStore>> TokenWatch::changed() {
  struct stat found {};
  Look look;
  const bool is_there = ::stat(path_.c_str(), &found) == 0;
  if (is_there) {
    look = {found.st_ino, static_cast<std::uint64_t>(found.st_size),
            std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
  }
  if (seen_ == look) return {};
  if (!is_there) {
    seen_ = look;
    return transport::TokenStore();
  }
  const auto place = place_of(path_);
  if (!place.ok()) return place.status();
  auto store = transport::load_token_store(*place->disk, place->name);
  if (store.ok()) seen_ = look;
  return store;
}

}  // namespace seaway::tools
