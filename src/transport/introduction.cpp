// Introductions, welcomes, and the frames in which they travel.

#include "transport/introduction.hpp"

#include <cstring>
#include <utility>

#include "transport/protocol_version.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"
#include "wires.capnp.h"

namespace seaway::transport {
namespace {

constexpr std::uint32_t kMagic = 0x53656177;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kMessageBytesMax = 2048;
constexpr std::uint32_t kSegmentsMax = 16;
// How records of TLS begin that come first: kind and version.
constexpr std::uint32_t kTlsAlert = 0x0315, kTlsHello = 0x0316;
static_assert(kSegmentsMax < kTlsAlert);
static_assert(kMessageBytesMax + 512 < kWelcomeBytesMax);

std::string both_protocols(std::uint32_t theirs) {
  return "protocol " + std::to_string(theirs) + " where protocol " +
         std::to_string(kProtocolVersion) + " is talked: run one version of Seaway at both ends";
}

capnp::Data::Reader data_of(const std::string& text) {
  return {reinterpret_cast<const kj::byte*>(text.data()), text.size()};
}
std::string text_of(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

/// One frame while it arrives. Its table comes first, and then no more than that has announced and
/// the limit allows.
class Arrival {
 public:
  Arrival(kj::AsyncIoStream& stream, std::size_t bytes_max)
      : stream_(stream), words_max_(bytes_max / kWord), words_(kj::heapArray<std::uint64_t>(1)) {
    words_[0] = 0;
  }

  kj::Promise<Result<Frame>> receive() {
    return read(0, 1).then([this](Status status) -> kj::Promise<Result<Frame>> {
      // An alert is shorter than a word.
      if (const auto type = number(0) & 0xffff; type == kTlsAlert || type == kTlsHello) {
        return Result<Frame>(protocol_error(
            "the other end talks TLS and this one does not: name its address as tls:HOST:PORT"));
      }
      if (!status.ok()) return Result<Frame>(status);
      if (segments() > kSegmentsMax) {
        return Result<Frame>(protocol_error("what came is no frame: it begins with a table of " +
                                            std::to_string(segments()) + " segments; at most " +
                                            std::to_string(kSegmentsMax) + " are allowed"));
      }
      return rest_of_table();
    });
  }

 private:
  std::uint32_t number(std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(words_.begin()) + index * sizeof(value),
                sizeof(value));
    return value;
  }
  std::uint64_t segments() const { return std::uint64_t{number(0)} + 1; }
  std::size_t table_words() const { return static_cast<std::size_t>(segments()) / 2 + 1; }

  /// Makes room for `end` words and fills them from `begin` on.
  kj::Promise<Status> read(std::size_t begin, std::size_t end) {
    if (begin == end) return Status();
    if (end > words_.size()) {
      auto more = kj::heapArray<std::uint64_t>(end);
      std::memcpy(more.begin(), words_.begin(), begin * kWord);
      words_ = kj::mv(more);
    }
    const std::size_t bytes = (end - begin) * kWord;
    return read_some(stream_, words_.begin() + begin, bytes, bytes)
        .then(
            [bytes](std::size_t count) -> Status {
              if (count == bytes) return {};
              return {StatusCode::kHostLost, "the connection ended before a frame was whole"};
            },
            [](kj::Exception&& exception) -> Status {
              // FAILED: see tls.cpp.
              const bool is_refusal = exception.getType() == kj::Exception::Type::FAILED;
              return {is_refusal ? StatusCode::kUnauthenticated : StatusCode::kHostLost,
                      std::string("the connection broke: ") + exception.getDescription().cStr()};
            });
  }

  kj::Promise<Result<Frame>> rest_of_table() {
    const std::size_t table = table_words();
    return read(1, table).then([this, table](Status status) -> kj::Promise<Result<Frame>> {
      if (!status.ok()) return Result<Frame>(status);
      std::uint64_t words = table;
      for (std::size_t i = 1; i <= segments(); ++i) words += number(i);
      if (words > words_max_) {
        return Result<Frame>(resource_exhausted("a frame of " + std::to_string(words * kWord) +
                                                " bytes is announced; the limit is " +
                                                std::to_string(words_max_ * kWord)));
      }
      return read(table, static_cast<std::size_t>(words)).then([this](Status all) -> Result<Frame> {
        if (!all.ok()) return all;
        return Frame::make(words_.size(), [this](std::span<std::uint64_t> out) {
          std::memcpy(out.data(), words_.begin(), out.size_bytes());
        });
      });
    });
  }

  kj::AsyncIoStream& stream_;
  const std::size_t words_max_;
  kj::Array<std::uint64_t> words_;
};

}  // namespace

Status check_answer(const Frame& answer, std::size_t bytes_max) {
  if (answer.size_bytes() <= bytes_max) return {};
  return resource_exhausted("the answer has " + std::to_string(answer.size_bytes()) +
                            " bytes; the limit is " + std::to_string(bytes_max) + ": ask for less");
}

Status check_names(const Talk& talk, ProcessId self, std::uint64_t cluster) {
  if (talk.to != self || cluster == 0) {
    return not_found("this is process " + std::to_string(self) + " of cluster " +
                     std::to_string(cluster) + ", and not process " + std::to_string(talk.to) +
                     ": look the address up again");
  }
  if (talk.from != self) return {};
  return invalid_argument("both ends say that they are process " + std::to_string(self));
}

Frame introduction_frame(const Introduction& introduction) {
  return introduction_frame(introduction, kProtocolVersion);
}

Frame introduction_frame(const Introduction& introduction, std::uint32_t protocol) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<wire::Introduction>();
  root.setMagic(kMagic);
  root.setProtocol(protocol);
  root.setCluster(introduction.cluster);
  if (const auto* talk = std::get_if<Talk>(&introduction.what)) {
    auto group = root.initTalk();
    group.setFrom(talk->from);
    group.setTo(talk->to);
    root.setData(talk->is_of_data);
  } else {
    root.setAsk(wire::frame_data(std::get<Frame>(introduction.what)));
  }
  if (!introduction.token.empty()) root.setToken(introduction.token);
  if (!introduction.binding.empty()) root.setBinding(data_of(introduction.binding));
  if (!introduction.pass.empty()) root.setPass(data_of(introduction.pass));
  root.setLife(introduction.life);
  return builder.finish();
}

Result<Introduction> read_introduction(const Frame& frame) {
  Introduction introduction;
  const Status status = wire::read_frame<
      wire::Introduction>(frame, [&](wire::Introduction::Reader root) -> Status {
    if (root.getMagic() != kMagic) {
      return protocol_error("an introduction with the magic number " +
                            std::to_string(root.getMagic()) + "; Seaway's is " +
                            std::to_string(kMagic));
    }
    if (root.getProtocol() != kProtocolVersion) {
      return protocol_error("an introduction of " + both_protocols(root.getProtocol()));
    }
    introduction.cluster = root.getCluster();
    if (root.isTalk()) {
      introduction.what = Talk{root.getTalk().getFrom(), root.getTalk().getTo(), root.getData()};
    } else if (root.isAsk()) {
      introduction.what = wire::data_frame(root.getAsk());
    } else {
      return protocol_error("an introduction that neither talks nor asks");
    }
    introduction.token.assign(root.getToken().cStr(), root.getToken().size());
    introduction.binding = text_of(root.getBinding());
    introduction.pass = text_of(root.getPass());
    introduction.life = root.getLife();
    return {};
  });
  if (!status.ok()) return status;
  return introduction;
}

Frame welcome_frame(const Welcome& welcome) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<wire::Welcome>();
  root.setProtocol(kProtocolVersion);
  switch (welcome.kind) {
    case Welcome::Kind::kRefused: {
      auto refused = root.initRefused();
      refused.setCode(static_cast<std::uint8_t>(welcome.refusal.code()));
      refused.setMessage(welcome.refusal.message().substr(0, kMessageBytesMax).c_str());
      break;
    }
    case Welcome::Kind::kTalk:
      root.setTalk();
      break;
    case Welcome::Kind::kCrossed:
      root.setCrossed();
      break;
    case Welcome::Kind::kAnswer:
      root.setAnswer(wire::frame_data(welcome.answer));
      break;
  }
  return builder.finish();
}

Result<Welcome> read_welcome(const Frame& frame) {
  Welcome welcome;
  const Status status =
      wire::read_frame<wire::Welcome>(frame, [&](wire::Welcome::Reader root) -> Status {
        switch (root.which()) {
          case wire::Welcome::REFUSED:
            // Of whatever protocol: a refusal says why in words.
            welcome.refusal =
                wire::read_status(root.getRefused().getCode(), root.getRefused().getMessage());
            if (welcome.refusal.ok()) return protocol_error("a refusal without a reason");
            return {};
          case wire::Welcome::TALK:
            welcome.kind = Welcome::Kind::kTalk;
            break;
          case wire::Welcome::CROSSED:
            welcome.kind = Welcome::Kind::kCrossed;
            break;
          case wire::Welcome::ANSWER:
            welcome.kind = Welcome::Kind::kAnswer;
            welcome.answer = wire::data_frame(root.getAnswer());
            break;
          default:
            return protocol_error("a welcome of a kind that is not known here");
        }
        if (root.getProtocol() == kProtocolVersion) return {};
        return protocol_error("a welcome of " + both_protocols(root.getProtocol()));
      });
  if (!status.ok()) return status;
  return welcome;
}

kj::Promise<std::size_t> read_some(kj::AsyncIoStream& stream, void* target, std::size_t least,
                                   std::size_t most) {
  return kj::evalNow([&]() { return stream.tryRead(target, least, most); });
}

kj::Promise<Result<Frame>> receive_frame(kj::AsyncIoStream& stream, std::size_t bytes_max) {
  auto arrival = kj::heap<Arrival>(stream, bytes_max);
  auto frame = arrival->receive();
  return frame.attach(kj::mv(arrival));
}

kj::Promise<void> send_frame(kj::AsyncIoStream& stream, Frame frame) {
  return kj::evalNow(
             [&stream, &frame]() { return stream.write(frame.words().data(), frame.size_bytes()); })
      .attach(kj::mv(frame));
}

}  // namespace seaway::transport
