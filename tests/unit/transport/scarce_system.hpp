// For tests of what happens when the system has no more descriptors, or threads, for a process.

#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

#include "seaway/status.hpp"

namespace seaway::transport {

/// While it lives, this process can open `more` files and not one more.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    for (few.rlim_cur = 0;; ++few.rlim_cur) {
      const bool is_free = ::fcntl(static_cast<int>(few.rlim_cur), F_GETFD) < 0;
      if (is_free && more-- == 0) break;
    }
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

/// That this process has.
inline std::size_t descriptors() {
  std::size_t count = 0;
  DIR* const all = ::opendir("/proc/self/fd");
  while (all && ::readdir(all)) ++count;
  if (all) ::closedir(all);
  return count;
}

/// For a child of a test (EXPECT_EXIT): from here on it gets no further thread.
inline void have_no_more_threads() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && ::setuid(kNobody) != 0) return;  // Root has as many as it likes.
  const rlimit none = {};
  ::setrlimit(RLIMIT_NPROC, &none);
}

/// Calls `make` with room for no descriptor, for one, for two, until it gets what it wants, and
/// returns for how many there was room then. Before that it has to say what is missing.
template <class Make>
std::size_t expect_refusals_below_what_it_needs(const Make& make) {
  for (std::size_t more = 0; more < 100; ++more) {
    const FewDescriptors few(more);
    const auto made = make();
    if (made.ok()) return more;
    EXPECT_EQ(made.status().code(), StatusCode::kResourceExhausted) << made.status().to_string();
    EXPECT_NE(made.status().message().find("ulimit -n"), std::string::npos)
        << made.status().message();
  }
  ADD_FAILURE() << "it gets nothing with room for 100 descriptors";
  return 0;
}

}  // namespace seaway::transport
