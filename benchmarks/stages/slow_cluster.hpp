// SlowCluster: a cluster whose roles are processes, as `seaway up` starts it, with SlowLinks
// between each two of them.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/stages/slow_links.hpp"
#include "benchmarks/support/command.hpp"
#include "seaway/status.hpp"

namespace seaway::benchmarks {

/// The addresses of such a cluster are relative: each process has a directory of its own, where its
/// own socket is real and those of all others lead to the links. This process, too: while it lives,
/// its working directory is the client's. One thread.
class SlowCluster {
 public:
  /// Islands whose hosts have one device each. `options`: further ones, as the controller takes
  /// them. Returns when all roles are there. Errors: kResourceExhausted; kDeadlineExceeded.
  static Result<std::unique_ptr<SlowCluster>> start(std::uint32_t islands, std::uint32_t hosts = 1,
                                                    const std::string& options = {});
  ~SlowCluster();
  SlowCluster(const SlowCluster&) = delete;
  SlowCluster& operator=(const SlowCluster&) = delete;

  /// The controller's, for a client in this process.
  static std::string address();
  SlowLinks& links() { return *links_; }
  /// Of the first client.
  transport::ProcessId client() const;

 private:
  SlowCluster(std::uint32_t islands, std::uint32_t hosts, std::string options)
      : islands_(islands), hosts_(hosts), options_(std::move(options)) {}
  Status lay_out();
  Status start_roles();
  Status wait_until_ready();
  std::string directory_of(const std::string& name) const { return scratch_.path() + "/" + name; }

  const std::uint32_t islands_, hosts_;
  const std::string options_;
  const ScratchDirectory scratch_;
  std::string came_from_;  // The working directory of before.
  std::unique_ptr<SlowLinks> links_;
  std::vector<Command> roles_;  // End first.
};

}  // namespace seaway::benchmarks
