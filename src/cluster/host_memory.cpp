// Who is handed a host's memory, and how others' is asked for.

#include "cluster/host_memory.hpp"

#include <utility>

#include "transport/address_text.hpp"

namespace seaway::cluster {

using transport::SharedRegion;

namespace {

constexpr std::uint64_t kAskNs = 2'000'000'000;

std::shared_ptr<const transport::MemoryFile> make_file(std::size_t bytes, Status& status) {
  auto made = transport::MemoryFile::make(bytes);
  status = made.status();
  return made.ok() ? std::move(*made) : nullptr;
}

}  // namespace

HostMemory::HostMemory(transport::IoLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      file_(make_file(options_.bytes, status_)),
      near_(
          file_ ? file_->region() : SharedRegion(),
          [this](HostId host, std::uint32_t life, const Take& take) { fetch(host, life, take); }) {}

Status HostMemory::may_read(const Sessions& sessions, const transport::Caller& caller,
                            const MemoryQuestion& question) const {
  if (!caller.is_local) {
    return {StatusCode::kPermissionDenied, "the memory of a host is read on its machine alone"};
  }
  const bool is_host = question.process <= last_role_process(options_.shape) &&
                       data_peer_of(role_of(question.process, options_.shape));
  if (!is_host) {
    return {StatusCode::kPermissionDenied, "process " + std::to_string(question.process) +
                                               " is no host; the memory of one is read by others"};
  }
  transport::Caller shown = caller;
  shown.pass = question.pass;
  shown.life = question.life;
  return sessions.check_talk(question.process, shown);
}

void HostMemory::lend(const Sessions& sessions, const transport::Caller& caller,
                      const MemoryQuestion& question, const transport::Answering& done) const {
  if (Status may = may_read(sessions, caller, question); !may.ok()) return done(std::move(may));
  if (!file_) return done(not_found("this host lends no memory: " + status_.message()));
  if (question.of_life != options_.life) {
    return done(not_found("this is life " + std::to_string(options_.life) +
                          " of this host, and not life " + std::to_string(question.of_life)));
  }
  done(done_frame(), file_);
}

void HostMemory::fetch(transport::DataPeer host, std::uint32_t life, const Take& take) {
  const transport::ProcessId peer = process_of(role_of_peer(host), options_.shape);
  transport::ask(
      loop_, options_.controller, options_.cluster, to_frame(FindQuestion{peer}), kAskNs,
      [this, life, take, here = std::weak_ptr<bool>(is_here_)](const Result<Frame>& answer) {
        if (here.expired()) return;
        const auto found = answer.ok() ? read_address(*answer) : answer.status();
        found.ok() ? ask_at(*found, life, take) : take(found.status());
      },
      options_.credentials);
}

void HostMemory::ask_at(const std::string& addresses, std::uint32_t life, const Take& take) {
  for (const std::string& one : transport::split_addresses(addresses)) {
    if (transport::is_of_network(one)) continue;
    const MemoryQuestion question{options_.self, options_.life, life, options_.pass};
    return transport::ask_memory(loop_, one, options_.cluster, to_frame(question), kAskNs, take);
  }
  take(not_found("that host is on another machine: " + addresses));
}

}  // namespace seaway::cluster
