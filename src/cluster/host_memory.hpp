// HostMemory: what a host's process lends to hosts of its machine, and how it comes by theirs.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/sessions.hpp"
#include "cluster/shape.hpp"
#include "transport/memory_file.hpp"
#include "transport/near_memory.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::cluster {

/// Memory of one life of a host. Whoever may talk with it as a host of its machine is handed it, to
/// be read; nobody else is. Control thread; the loop outlives it.
class HostMemory {
 public:
  struct Options {
    transport::ProcessId self = 0;
    std::uint32_t life = 0;
    std::uint64_t cluster = 0;
    Shape shape = Shape(1);
    std::string pass = {};
    std::string controller = {};  // Where it listens.
    transport::Credentials credentials = {};
    std::size_t bytes = 0;  // That can be lent, of addresses; memory is taken as it is used.
  };

  HostMemory(transport::IoLoop& loop, Options options);

  /// Why it lends nothing; ok: it does.
  const Status& status() const { return status_; }
  transport::NearMemory& near() { return near_; }

  /// Answers a MemoryQuestion. Errors: kPermissionDenied, kUnauthenticated; kNotFound when this is
  /// another life, or lends nothing.
  void lend(const Sessions& sessions, const transport::Caller& caller,
            const MemoryQuestion& question, const transport::Answering& done) const;

 private:
  using Take = std::function<void(Result<transport::SharedRegion>)>;
  Status may_read(const Sessions& sessions, const transport::Caller& caller,
                  const MemoryQuestion& question) const;
  void fetch(transport::DataPeer host, std::uint32_t life, const Take& take);
  void ask_at(const std::string& addresses, std::uint32_t life, const Take& take);

  transport::IoLoop& loop_;
  const Options options_;
  Status status_;
  const std::shared_ptr<const transport::MemoryFile> file_;
  transport::NearMemory near_;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace seaway::cluster
