// Questions and answers of schemas/members.capnp.

#include "cluster/enrolment_messages.hpp"

#include <members.capnp.h>

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::cluster {
namespace {

constexpr std::uint8_t kRolesMax = static_cast<std::uint8_t>(actor::Role::kAnnex);

using Numbers = capnp::List<std::uint32_t>;

void fill(Numbers::Builder list, const std::vector<transport::ProcessId>& numbers) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, numbers[i]);
}
std::vector<transport::ProcessId> numbers_of(Numbers::Reader list) {
  std::vector<transport::ProcessId> numbers;
  for (const std::uint32_t number : list) numbers.push_back(number);
  return numbers;
}
capnp::Data::Reader data_of(const std::string& text) {
  return {reinterpret_cast<const kj::byte*>(text.data()), text.size()};
}
std::string text_of(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

struct Writer {
  wire::Question::Builder builder;

  static void write(const NativeName& native, wire::Native::Builder out) {
    out.setName(native.name);
    out.setFingerprint(native.fingerprint);
  }

  void operator()(const EnrolQuestion& question) {
    auto enrol = builder.initEnrol();
    enrol.setRole(static_cast<std::uint8_t>(question.name.role));
    enrol.setIndex(question.name.index);
    enrol.setTenant(question.tenant);
  }
  void operator()(const AnnounceQuestion& question) {
    auto announce = builder.initAnnounce();
    announce.setProcess(question.process);
    announce.setLife(question.life);
    announce.setAddress(question.address);
    auto natives = announce.initNatives(static_cast<unsigned>(question.natives.size()));
    for (unsigned i = 0; i < natives.size(); ++i) write(question.natives[i], natives[i]);
  }
  void operator()(const NativeQuestion& question) { write(question.native, builder.initNative()); }
  void operator()(const FindQuestion& question) { builder.setFind(question.process); }
  void operator()(const StatusQuestion&) { builder.setStatus(); }
  void operator()(const StopQuestion&) { builder.setStop(); }
  void operator()(const WhyQuestion& question) { builder.setWhy(question.run); }
  void operator()(const VouchQuestion& question) {
    fill(builder.initVouch(static_cast<unsigned>(question.processes.size())), question.processes);
  }
  void operator()(const DrainQuestion& question) {
    auto drain = builder.initDrain();
    drain.setIsland(question.island);
    drain.setHow(!question.how                                     ? wire::Drain::ENDED
                 : *question.how == controller::Drain::kUntilEnded ? wire::Drain::UNTIL_ENDED
                                                                   : wire::Drain::UNTIL_JOINED);
  }
  void operator()(const MemoryQuestion& question) {
    auto memory = builder.initMemory();
    memory.setProcess(question.process);
    memory.setLife(question.life);
    memory.setOfLife(question.of_life);
    memory.setPass(data_of(question.pass));
  }
  void operator()(const FileQuestion& question) {
    auto file = builder.initFile();
    file.setProcess(question.process);
    file.setLife(question.life);
    file.setPass(data_of(question.pass));
    file.setArray(question.array);
    file.setOffset(question.offset);
    file.setBytes(question.bytes);
    file.setStride(question.stride);
  }
};

/// kProtocolError for what a later version may mean.
Status read_drain(wire::Drain how, std::optional<controller::Drain>& drain) {
  switch (how) {
    case wire::Drain::ENDED:
      drain = std::nullopt;
      return {};
    case wire::Drain::UNTIL_ENDED:
      drain = controller::Drain::kUntilEnded;
      return {};
    case wire::Drain::UNTIL_JOINED:
      drain = controller::Drain::kUntilJoined;
      return {};
  }
  return protocol_error("this kind of drain is not known here");
}

/// `read` takes the answer and returns whether it is of the kind that is wanted.
Status read_answer(const Frame& frame, const auto& read) {
  return wire::read_frame<wire::Answer>(frame, [&read](wire::Answer::Reader answer) {
    return read(answer) ? Status() : protocol_error("the answer is to another question");
  });
}

}  // namespace

Frame to_frame(const Question& question) {
  wire::FrameBuilder builder;
  std::visit(Writer{builder.init_root<wire::Question>()}, question);
  return builder.finish();
}

Result<Question> read_question(const Frame& frame) {
  Question question;
  const auto read = [&question](wire::Question::Reader asked) -> Status {
    switch (asked.which()) {
      case wire::Question::ENROL: {
        const std::uint8_t role = asked.getEnrol().getRole();
        if (role > kRolesMax) return protocol_error("there is no role " + std::to_string(role));
        question = EnrolQuestion{{static_cast<actor::Role>(role), asked.getEnrol().getIndex()},
                                 asked.getEnrol().getTenant().cStr()};
        return {};
      }
      case wire::Question::ANNOUNCE: {
        const auto announce = asked.getAnnounce();
        question = AnnounceQuestion{
            announce.getProcess(), announce.getLife(), announce.getAddress().cStr(), {}};
        auto& natives = std::get<AnnounceQuestion>(question).natives;
        for (const auto native : announce.getNatives()) {
          natives.push_back({native.getName().cStr(), native.getFingerprint()});
        }
        return {};
      }
      case wire::Question::NATIVE:
        question = NativeQuestion{
            {asked.getNative().getName().cStr(), asked.getNative().getFingerprint()}};
        return {};
      case wire::Question::FIND:
        question = FindQuestion{asked.getFind()};
        return {};
      case wire::Question::STATUS:
        question = StatusQuestion{};
        return {};
      case wire::Question::STOP:
        question = StopQuestion{};
        return {};
      case wire::Question::WHY:
        question = WhyQuestion{asked.getWhy()};
        return {};
      case wire::Question::VOUCH:
        question = VouchQuestion{numbers_of(asked.getVouch())};
        return {};
      case wire::Question::DRAIN: {
        DrainQuestion drain{asked.getDrain().getIsland(), {}};
        if (Status known = read_drain(asked.getDrain().getHow(), drain.how); !known.ok())
          return known;
        question = drain;
        return {};
      }
      case wire::Question::MEMORY: {
        const auto memory = asked.getMemory();
        question = MemoryQuestion{memory.getProcess(), memory.getLife(), memory.getOfLife(),
                                  text_of(memory.getPass())};
        return {};
      }
      case wire::Question::FILE: {
        const auto file = asked.getFile();
        question = FileQuestion{file.getProcess(), file.getLife(),   text_of(file.getPass()),
                                file.getArray(),   file.getOffset(), file.getBytes(),
                                file.getStride()};
        return {};
      }
    }
    return protocol_error("this question is not known here");
  };
  if (Status status = wire::read_frame<wire::Question>(frame, read); !status.ok()) return status;
  return question;
}

Frame enrolled_frame(const Enrolled& enrolled) {
  wire::FrameBuilder builder;
  auto answer = builder.init_root<wire::Answer>().initEnrolled();
  answer.setProcess(enrolled.process);
  answer.setIndex(enrolled.index);
  answer.setLife(enrolled.life);
  answer.setCluster(enrolled.cluster);
  answer.setSpec(enrolled.spec);
  answer.setHeartbeatNs(enrolled.heartbeat_ns);
  answer.setSilenceNs(enrolled.silence_ns);
  answer.setPass(data_of(enrolled.pass));
  answer.setKey(data_of(enrolled.key));
  answer.setTenant(enrolled.tenant);
  return builder.finish();
}

Frame address_frame(const std::string& address) {
  wire::FrameBuilder builder;
  builder.init_root<wire::Answer>().setAddress(address);
  return builder.finish();
}

Frame status_frame(const std::string& json) {
  wire::FrameBuilder builder;
  builder.init_root<wire::Answer>().setStatus(json);
  return builder.finish();
}

Frame left_frame(const controller::ControllerCore::Left& left) {
  wire::FrameBuilder builder;
  auto answer = builder.init_root<wire::Answer>().initLeft();
  answer.setSlices(left.slices);
  answer.setArrays(left.arrays);
  answer.setParts(left.parts);
  answer.setReads(left.reads);
  return builder.finish();
}

Result<controller::ControllerCore::Left> read_left(const Frame& frame) {
  controller::ControllerCore::Left left;
  const Status status = read_answer(frame, [&left](wire::Answer::Reader answer) {
    if (!answer.isLeft()) return false;
    const auto said = answer.getLeft();
    left = {said.getSlices(), said.getArrays(), said.getParts(), said.getReads()};
    return true;
  });
  if (!status.ok()) return status;
  return left;
}

Frame done_frame() {
  wire::FrameBuilder builder;
  builder.init_root<wire::Answer>().setDone();
  return builder.finish();
}

Frame unwelcome_frame(const std::vector<transport::ProcessId>& processes) {
  wire::FrameBuilder builder;
  auto answer = builder.init_root<wire::Answer>();
  fill(answer.initUnwelcome(static_cast<unsigned>(processes.size())), processes);
  return builder.finish();
}

Result<Enrolled> read_enrolled(const Frame& frame) {
  Enrolled enrolled;
  const Status status = read_answer(frame, [&enrolled](wire::Answer::Reader answer) {
    if (!answer.isEnrolled()) return false;
    const auto said = answer.getEnrolled();
    enrolled = {said.getProcess(),      said.getIndex(),         said.getLife(),
                said.getCluster(),      said.getSpec().cStr(),   said.getHeartbeatNs(),
                said.getSilenceNs(),    text_of(said.getPass()), text_of(said.getKey()),
                said.getTenant().cStr()};
    return true;
  });
  if (!status.ok()) return status;
  return enrolled;
}

Result<std::string> read_address(const Frame& frame) {
  std::string address;
  const Status status = read_answer(frame, [&address](wire::Answer::Reader answer) {
    if (answer.isAddress()) address = answer.getAddress().cStr();
    return answer.isAddress();
  });
  if (!status.ok()) return status;
  return address;
}

Result<std::string> read_status(const Frame& frame) {
  std::string json;
  const Status status = read_answer(frame, [&json](wire::Answer::Reader answer) {
    if (answer.isStatus()) json = answer.getStatus().cStr();
    return answer.isStatus();
  });
  if (!status.ok()) return status;
  return json;
}

Result<std::vector<transport::ProcessId>> read_unwelcome(const Frame& frame) {
  std::vector<transport::ProcessId> processes;
  const Status status = read_answer(frame, [&processes](wire::Answer::Reader answer) {
    if (answer.isUnwelcome()) processes = numbers_of(answer.getUnwelcome());
    return answer.isUnwelcome();
  });
  if (!status.ok()) return status;
  return processes;
}

Status read_done(const Frame& frame) {
  return read_answer(frame, [](wire::Answer::Reader answer) { return answer.isDone(); });
}

}  // namespace seaway::cluster
