// One question, with a descriptor.

#include "cluster/host_files.hpp"

#include <utility>

#include "transport/address_text.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::cluster {

namespace {

constexpr std::uint64_t kGiveNs = 2'000'000'000;

}  // namespace

std::function<void(Result<std::string>)> giver_of_file(transport::IoLoop& loop,
                                                       std::uint64_t cluster, FileQuestion asked,
                                                       const transport::Payload& payload,
                                                       const std::function<void(Status)>& done) {
  asked.offset = payload.file->offset();
  asked.bytes = payload.file->bytes();
  asked.stride = payload.stride;
  return [&loop, cluster, asked, file = payload.file->file(),
          done](const Result<std::string>& address) {
    if (!address.ok()) return done(address.status());
    if (transport::is_of_network(*address)) {
      return done(not_found("that host is on another machine: " + *address));
    }
    transport::ask_with(loop, *address, cluster, to_frame(asked), file->descriptor(), kGiveNs,
                        [done](const Result<Frame>& answer) {
                          done(answer.ok() ? read_done(*answer) : answer.status());
                        });
  };
}

Result<transport::Payload> take_file(const Sessions& sessions, const Shape& shape,
                                     const transport::Caller& caller,
                                     const FileQuestion& question) {
  const RoleName giver = role_of(question.process, shape);
  if (!caller.is_local || giver.role != actor::Role::kClient ||
      client_of(question.array) != giver.index) {
    return Status(
        StatusCode::kPermissionDenied,
        "files are taken from clients of this machine, for arrays of their own; not from " +
            to_string(giver));
  }
  transport::Caller shown = caller;
  shown.pass = question.pass;
  shown.life = question.life;
  if (Status may = sessions.check_talk(question.process, shown); !may.ok()) return may;
  auto file = transport::SourceFile::take(caller.handed);
  if (!file.ok()) return file.status();
  auto view = transport::FileView::map(std::move(*file), question.offset, question.bytes);
  if (!view.ok()) return view.status();
  transport::Payload payload;
  payload.base = (*view)->base();
  payload.stride = question.stride;
  payload.file = *view;
  payload.owner = std::move(*view);
  return payload;
}

}  // namespace seaway::cluster
