// Out of Cap'n Proto, and outcomes back into it.

#include "cluster/relay_frames.hpp"

#include <seaway.capnp.h>

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::cluster {

using client::Said;
using wire::ClientRecord;
using wire::Message;

namespace {

std::optional<Said::Kind> read_kind(ClientRecord::Kind kind) {
  switch (kind) {
    case ClientRecord::Kind::RUN:
      return Said::Kind::kRun;
    case ClientRecord::Kind::PUT:
      return Said::Kind::kPut;
    case ClientRecord::Kind::FETCH:
      return Said::Kind::kFetch;
    case ClientRecord::Kind::GOT:
      return Said::Kind::kGot;
    case ClientRecord::Kind::CANCEL:
      return Said::Kind::kCancel;
    case ClientRecord::Kind::FORGET:
      return Said::Kind::kForget;
    case ClientRecord::Kind::RELEASE:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SaidRecords> read_records(const Frame& frame) {
  std::optional<SaidRecords> records;
  const Status status = wire::read_frame<Message>(frame, [&records](Message::Reader message) {
    if (!message.isRuns()) return;
    records.emplace();
    const auto batch = message.getRuns();
    const auto ids = batch.getIds();
    for (const auto record : batch.getRecords()) {
      const auto kind = read_kind(record.getKind());
      if (!kind) continue;
      Said& said = records->said.emplace_back();
      said.kind = *kind;
      said.id = record.getId();
      said.object = record.getObject();
      said.first = record.getFirst();
      if (*kind != Said::Kind::kRun) continue;
      said.argument_count = record.getArgCount();
      for (unsigned i = 0; i < said.argument_count; ++i) {
        records->arguments.push_back(ids[record.getArgBegin() + i]);
      }
    }
  });
  return status.ok() ? records : std::nullopt;
}

std::optional<std::uint64_t> read_definition(const Frame& frame) {
  std::optional<std::uint64_t> id;
  const Status status = wire::read_frame<Message>(frame, [&id](Message::Reader message) {
    if (message.isDefineFunction()) id = message.getDefineFunction().getId();
    if (message.isDefineProgram()) id = message.getDefineProgram().getId();
    if (!message.isRequest()) return;
    const auto request = message.getRequest();
    if (request.isDefineForeign()) id = request.getDefineForeign().getId();
    if (request.isDefineSpec()) id = request.getDefineSpec().getId();
  });
  return status.ok() ? id : std::nullopt;
}

Result<ArrayId> read_upload(const Frame& frame) {
  ArrayId array = 0;
  const Status status = wire::read_frame<Message>(
      frame, [&array](Message::Reader message) { array = message.getBulk().getId(); });
  if (!status.ok()) return status;
  return array;
}

Result<Answer> read_answer(const Frame& frame) {
  Answer answer;
  const Status status = wire::read_frame<Message>(frame, [&answer](Message::Reader message) {
    switch (message.which()) {
      case Message::REPLY:
        answer.kind = Answer::Kind::kReply;
        answer.id = message.getReply().getRequest();
        break;
      case Message::BULK:
        answer.kind = Answer::Kind::kValue;
        answer.id = message.getBulk().getId();
        break;
      case Message::PULL:
        answer.kind = Answer::Kind::kPull;
        answer.id = message.getPull().getArray();
        break;
      case Message::FETCHED:
        answer.kind = Answer::Kind::kFetched;
        for (const auto fetched : message.getFetched()) {
          answer.requests.push_back(fetched.getRequest());
        }
        break;
      case Message::RESOLVED:
        answer.kind = Answer::Kind::kResolved;
        for (const auto resolved : message.getResolved()) {
          answer.resolved.push_back(
              {resolved.getId(), wire::read_status(resolved.getCode(), resolved.getMessage())});
        }
        break;
      default:
        break;
    }
  });
  if (!status.ok()) return status;
  return answer;
}

Frame resolved_frame(ClientId client, const std::vector<ResolvedRun>& all) {
  wire::FrameBuilder builder;
  auto message = builder.init_root<Message>();
  message.setClient(client);
  auto list = message.initResolved(static_cast<unsigned>(all.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setId(all[i].id);
    list[i].setCode(static_cast<std::uint8_t>(all[i].status.code()));
    list[i].setMessage(all[i].status.message());
  }
  return builder.finish();
}

}  // namespace seaway::cluster
