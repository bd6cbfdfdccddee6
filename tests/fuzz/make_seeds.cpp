// Writes the seeds of the fuzz targets: make_seeds DIRECTORY. They are what roles really say to
// each other while a small program runs, and what processes say first.

#include <seaway.capnp.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/envelope_codec.hpp"
#include "base/check.hpp"
#include "cluster/cluster.hpp"
#include "cluster/embedded.hpp"
#include "cluster/enrolment_messages.hpp"
#include "cluster/relay_frames.hpp"
#include "cluster/relay_messages.hpp"
#include "device/annex_codec.hpp"
#include "device/exchange_codec.hpp"
#include "program/codec.hpp"
#include "seaway/seaway.hpp"
#include "target.hpp"
#include "transport/data_header.hpp"
#include "transport/introduction.hpp"
#include "transport/packet.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::fuzz {
namespace {

using actor::Role;
using Bytes = std::vector<std::uint8_t>;

void add_frame(Bytes& bytes, const Frame& frame) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(frame.words().data());
  bytes.insert(bytes.end(), begin, begin + frame.size_bytes());
}

/// As Sayings reads it.
void say(Bytes& bytes, std::uint8_t from, std::uint8_t to, const Frame& frame,
         std::uint16_t number = 0) {
  const auto words = static_cast<std::uint16_t>(frame.words().size());
  bytes.insert(
      bytes.end(),
      {from, to, static_cast<std::uint8_t>(number & 0xff), static_cast<std::uint8_t>(number >> 8),
       static_cast<std::uint8_t>(words & 0xff), static_cast<std::uint8_t>(words >> 8), 0, 0});
  add_frame(bytes, frame);
}

class Seeds {
 public:
  explicit Seeds(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void write(const std::string& target, const std::string& name, const Bytes& bytes) const {
    std::filesystem::create_directories(directory_ / target);
    std::ofstream file(directory_ / target / name, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    SEAWAY_CHECK(file.good(), target, name);
  }
  void write(const std::string& target, const std::string& name, const std::string& text) const {
    write(target, name, Bytes(text.begin(), text.end()));
  }

 private:
  const std::filesystem::path directory_;
};

/// All that is said in an embedded cluster, by role.
std::map<Role, std::vector<Frame>> overhear() {
  Cluster cluster = Cluster::start("embedded:islands=2,devices=2").value();
  std::map<Role, std::vector<Frame>> said;
  const auto on_control = [&cluster](const std::function<void()>& work) {
    actor::Engine& engine = *cluster.state()->engine;
    std::atomic<bool> is_done = false;
    engine.post([&] {
      work();
      is_done = true;
      engine.notify();
    });
    engine.wait([&is_done] { return is_done.load(); }, 0);
  };
  actor::Router& router = cluster.state()->embedded->router();
  on_control([&] {
    router.observe(
        [&](Role role, std::uint32_t, const Frame& frame) { said[role].push_back(frame); });
  });
  {
    Client client = cluster.connect().value();
    Slice first = client.acquire_slice({.devices = 2, .mesh = {{"x", 2}}, .island = 0}).value();
    Slice second = client.acquire_slice({.devices = 2, .mesh = {{"x", 2}}, .island = 1}).value();
    const NamedSharding here(first.mesh(), P("x")), there(second.mesh(), P("x"));
    Function twice = client.function("twice", [](Tensor x) { return x * 2; }, {f32({2})}).value();
    Function sum = client
                       .function("sum", [](Tensor x) { return x + all_reduce(x * x, "x"); },
                                 {f32({2})}, {.mesh = first.mesh()})
                       .value();
    SEAWAY_CHECK(
        client.program("s", [&](Traced v) { return sum(v); }, {ArraySpec{f32({4}), here}}).ok());
    const auto body = [&](Traced v) { return twice(twice(v).reshard(there)); };
    Program program = client.program("p", body, {ArraySpec{f32({4}), here}}).value();
    Array input = client.put<float>({1, 2, 3, 4}, here);
    Run run = program.execute({input});
    SEAWAY_CHECK(run.output(0).to_host<float>().get().ok());
    SEAWAY_CHECK(client.drain().ok());
    static_cast<void>(client.why());
  }
  on_control([&] { router.observe({}); });
  return said;
}

/// The host of island 0 and its first annex.
void write_annexes(const Seeds& seeds) {
  constexpr std::uint8_t kHost = 2, kAnnex = 129;  // See door_fuzz.cpp.
  const device::RoomRange range{7, 0, 2, 0, 8};
  const std::vector<std::byte> data(16);
  const std::vector<device::AnnexOrder> orders = {
      device::MakeRoom{7, 0, 2, 64},
      device::WriteRoom{range, data},
      device::RunGang{1, 9, 3, false, {{0, 0, 2}, {1, 2, 4}}, {{7, 0}, {}}, {{7, 8}}, {7, 16}},
      device::ReadRoom{2, range},
      device::DropRoom{7},
      device::ForgetFunction{3}};
  const std::vector<device::AnnexAnswer> answers = {{1, resource_exhausted("full"), {}},
                                                    {2, {}, data}};
  Bytes both;
  for (const Frame& frame : device::encode_orders(orders)) say(both, kHost, kAnnex, frame);
  for (const Frame& frame : device::encode_answers(answers)) say(both, kAnnex, kHost, frame);
  const device::ExchangeId id{9, 1};
  const std::vector<device::ExchangeWord> words = {
      {id, 0, 1, device::PackedMessage{data}},
      {id, 0, 2, device::LentMessage{{64, 128, 3, 5}, {0, 64}}},
      {id, 1, 0, device::OfferedMessage{4}},
      {id, 1, 1, device::TakenMessage()},
      {id, 1, 2, device::UnreadMessage()},
      {id, 0, 0, device::FailedGang{resource_exhausted("full")}}};
  for (const auto& one : device::encode_exchange(0, words)) say(both, kHost, kAnnex, one.frame);
  for (const auto& one : device::encode_exchange(1, words)) say(both, kAnnex, kHost, one.frame);
  seeds.write("door", "annexes", both);
}

void write_roles(const Seeds& seeds) {
  auto said = overhear();
  Bytes talk, at_door, to_client;
  unsigned count = 0;
  for (const Frame& frame : said[Role::kController]) {
    std::uint16_t kind = 0;
    bool is_client = false;
    SEAWAY_CHECK(
        wire::read_frame<wire::Message>(frame, [&](wire::Message::Reader message) {
          kind = static_cast<std::uint16_t>(message.which());
          is_client = message.getClient() != 0;
          if (message.isDefineProgram()) {
            Bytes program(Sayings::kHead, 0);
            for (const auto chunk : message.getDefineProgram().getGraph()) {
              program.insert(program.end(), chunk.begin(), chunk.end());
            }
            seeds.write("programs", "program" + std::to_string(count++), program);
          }
          if (message.isDefineFunction()) {
            const auto definition = message.getDefineFunction();
            Bytes graph{1, 0, 0, 0, 0, 0, 0, 0};
            graph.insert(graph.end(), definition.getGraph().begin(), definition.getGraph().end());
            seeds.write("functions", "function" + std::to_string(count), graph);
            Bytes info{3, 0, 0, 0, 0, 0, 0, 0};
            info.insert(info.end(), definition.getInfo().begin(), definition.getInfo().end());
            seeds.write("programs", "info" + std::to_string(count++), info);
          }
          return Status();
        }).ok());
    // Client 1 is 3 there; others' words are those of island 0: 1 a scheduler's, 2 a host's.
    const bool is_host = kind == wire::Message::COMPILED || kind == wire::Message::ARRIVED;
    say(talk, is_client ? 3 : is_host ? 2 : 1, 0, frame, 10);
    say(at_door, is_client ? 7 : is_host ? 2 : 1, 0, frame);
  }
  seeds.write("controller", "run", talk);
  for (const auto& [role, from] :
       std::map<Role, std::uint8_t>{{Role::kIsland, 2}, {Role::kHost, 1}, {Role::kClient, 2}}) {
    unsigned taken = 0;
    for (const Frame& frame : said[role]) {
      if (taken++ < 12 && frame.size_bytes() < 1024) {
        say(at_door, from, static_cast<std::uint8_t>(role), frame);
      }
    }
  }
  seeds.write("door", "all", at_door);
  for (const Frame& frame : said[Role::kClient]) say(to_client, 0, 0, frame);
  seeds.write("session", "run", to_client);
  for (const Frame& frame : said[Role::kHost]) {
    SEAWAY_CHECK(wire::read_frame<wire::Message>(frame, [&](wire::Message::Reader message) {
                   if (message.isDefinePlan()) {
                     Bytes part{1, 0, 0, 0, 0, 0, 0, 0};
                     add_frame(part, wire::data_frame(message.getDefinePlan().getPart()));
                     seeds.write("programs", "part" + std::to_string(count++), part);
                   }
                   if (message.isDefineSpec()) {
                     Bytes spec{2, 0, 0, 0, 0, 0, 0, 0};
                     add_frame(spec, wire::data_frame(message.getDefineSpec().getSpec()));
                     seeds.write("programs", "spec", spec);
                   }
                   return Status();
                 }).ok());
  }
}

/// A foreign program, and what a host says of it.
void write_foreign(const Seeds& seeds) {
  Bytes program{4, 0, 0, 0, 0, 0, 0, 0}, compiled{5, 0, 0, 0, 0, 0, 0, 0};
  add_frame(program,
            program::encode_frame(function::ForeignProgram{
                .name = {}, .format = "mlir", .code = "module {}", .options = "o", .shards = 2}));
  program::ForeignCompiled said;
  said.info.id = make_id(1, 3);
  said.info.name = "f";
  said.info.parameters = said.info.outputs = {f32({2}), f32({2})};
  said.info.shards = 2;
  said.info.donated = {1};
  said.format = "hlo";
  said.description = "described";
  add_frame(compiled, program::encode_frame(said));
  seeds.write("programs", "foreign", program);
  seeds.write("programs", "foreign_compiled", compiled);
}

void write_words(const Seeds& seeds) {
  using cluster::RoleName;
  const std::vector<Frame> questions = {
      cluster::to_frame(cluster::EnrolQuestion{RoleName{Role::kHost, 1}}),
      cluster::to_frame(cluster::EnrolQuestion{RoleName{Role::kClient, 0}}),
      cluster::to_frame(cluster::AnnounceQuestion{4, 1, "unix:/run/host1.sock"}),
      cluster::to_frame(cluster::FindQuestion{4}), cluster::to_frame(cluster::StatusQuestion{})};
  Bytes stream{1}, welcomes{1 + 4}, asked{1 + 8}, answers{1 + 12}, handshake;
  for (const Frame& question : questions) {
    const Frame introduction = transport::introduction_frame({7, question});
    add_frame(stream, introduction);
    add_frame(asked, question);
    say(handshake, 0, 0, introduction);
    say(handshake, 0, 1, question);
  }
  const Frame talk = transport::introduction_frame({7, transport::Talk{4, 0}});
  add_frame(stream, talk);
  say(handshake, 1, 0, talk, 4);
  say(handshake, 2, 0, talk, 4);
  transport::Welcome welcome;
  for (const auto kind : {transport::Welcome::Kind::kRefused, transport::Welcome::Kind::kTalk,
                          transport::Welcome::Kind::kAnswer}) {
    welcome.kind = kind;
    welcome.refusal = protocol_error("no");
    welcome.answer = cluster::enrolled_frame({4, 1, 1, 7, "embedded:islands=2", 1, 2});
    add_frame(welcomes, transport::welcome_frame(welcome));
  }
  add_frame(answers, welcome.answer);
  add_frame(answers, cluster::address_frame("unix:/run/host1.sock"));
  add_frame(answers, cluster::done_frame());
  seeds.write("frames", "introductions", stream);
  seeds.write("frames", "welcomes", welcomes);
  seeds.write("frames", "questions", asked);
  seeds.write("frames", "answers", answers);
  seeds.write("handshake", "enrolment", handshake);
}

/// What both ends of a connection for data say, as DataLink writes it and as data_fuzz.cpp makes
/// it.
void write_data(const Seeds& seeds) {
  using transport::DataHeader;
  DataHeader ask;
  ask.key = {1, 0};
  ask.end = 600'000;
  DataHeader chunk;
  chunk.kind = DataHeader::Kind::kChunk;
  chunk.key = {2, 0};
  const std::vector<std::byte> body(40, std::byte{3});
  chunk.length = static_cast<std::uint32_t>(body.size());
  chunk.checksum = transport::crc32c(~std::uint32_t{0}, body);
  Bytes raw = {1};
  for (const DataHeader& header : {ask, chunk}) {
    for (const std::byte byte : header.to_bytes()) raw.push_back(static_cast<std::uint8_t>(byte));
  }
  for (const std::byte byte : body) raw.push_back(static_cast<std::uint8_t>(byte));
  seeds.write("data", "raw", raw);
  // A value in three chunks, another one that is gone, and bytes that are asked for and stopped.
  Bytes made = {0};
  const auto add = [&made](DataHeader::Kind kind, std::uint8_t key, std::uint32_t length,
                           std::uint32_t offset, std::uint32_t end) {
    made.insert(made.end(), {static_cast<std::uint8_t>(kind), key, 7, 0});
    for (const std::uint32_t number : {length, offset, end}) {
      for (int byte = 0; byte < 4; ++byte) {
        made.push_back(static_cast<std::uint8_t>(number >> 8 * byte));
      }
    }
  };
  add(DataHeader::Kind::kAsk, 1, 0, 0, 600'000);
  for (std::uint32_t at = 0; at < 600'000; at += 200'000) {
    add(DataHeader::Kind::kChunk, 2, 200'000, at, 0);
  }
  add(DataHeader::Kind::kGone, 3, 0, 0, 0);
  add(DataHeader::Kind::kStop, 1, 0, 0, 0);
  seeds.write("data", "made", made);
}

void write_packets(const Seeds& seeds) {
  const Frame frame = cluster::done_frame();
  std::vector<std::byte> bytes;
  using Kind = transport::Packet::Kind;
  for (const Kind kind : {Kind::kHello, Kind::kFrame, Kind::kAck, Kind::kEnd}) {
    const bool has_frame = kind == Kind::kFrame;
    transport::write_packet({kind, 2, 3, has_frame ? 1u : 0u, 0, has_frame ? frame : Frame(), 5},
                            bytes);
  }
  Bytes raw{0};
  for (const std::byte byte : bytes) raw.push_back(static_cast<std::uint8_t>(byte));
  seeds.write("packets", "raw", raw);
  Bytes made{1};
  constexpr std::uint8_t kFrom2 = 2 << 2;  // An epoch, and a kind.
  say(made, kFrom2 | 0, 0, Frame());
  say(made, 0xff, 1, frame);
  for (std::uint16_t sequence = 1; sequence < 5; ++sequence) {
    say(made, kFrom2 | 1, 1, frame, static_cast<std::uint16_t>(sequence | 1 << 8));
  }
  say(made, 0xfe, 200, Frame());
  say(made, kFrom2 | 2, 0, Frame(), 1 << 8);
  say(made, kFrom2 | 3, 0, Frame());
  seeds.write("packets", "made", made);
}

void write_envelopes(const Seeds& seeds) {
  std::vector<app::Envelope> envelopes;
  for (const auto kind : {app::Kind::kCall, app::Kind::kReply, app::Kind::kCancel, app::Kind::kMore,
                          app::Kind::kDeath, app::Kind::kFind}) {
    app::Envelope& envelope = envelopes.emplace_back();
    envelope.kind = kind;
    envelope.from = 1;
    envelope.call = 5;
    envelope.number = 3;
    envelope.deadline_ns = 2'000'000;
    if (kind == app::Kind::kCall) envelope.payload.frame = cluster::done_frame();
    if (kind == app::Kind::kReply) envelope.status = protocol_error("no");
    if (kind == app::Kind::kDeath) {
      envelope.parcel = std::make_shared<app::Parcel>();
      envelope.parcel->death = std::make_shared<const Death>();
    }
    if (kind == app::Kind::kFind) {
      envelope.parcel = std::make_shared<app::Parcel>();
      envelope.parcel->name = "names";
    }
  }
  Bytes bytes;
  add_frame(bytes, app::encode_batch(1, envelopes, 1'000'000, {}));
  seeds.write("envelopes", "batch", bytes);
}

void write_relay(const Seeds& seeds) {
  const client::Holder host{2, 1}, self{4, 1};
  cluster::DelegateWords words;
  words.number = 3;
  words.made = {{make_id(1, 7), make_id(1, 8), 2}};
  words.frame = cluster::done_frame();
  words.imports = {{make_id(1, 5), self, 4, {host, 2}}};
  words.grants = {{make_id(1, 8), self, 6}};
  words.drops = {make_id(1, 5)};
  words.asks = {{9, make_id(1, 7), make_id(1, 8)}};
  words.wants_ids = true;
  words.gone = {host};
  cluster::ClientWords answer;
  answer.lease = 1 << 20;
  answer.outcomes = {{9, protocol_error("no")}};
  answer.are_gone = {host};
  answer.end = cancelled("it has gone");
  cluster::GivenArray given;
  given.array.client = 1;
  given.array.id = make_id(1, 8);
  given.array.run = make_id(1, 7);
  given.array.spec = {f32({2, 2}), NamedSharding(Mesh(make_id(1, 1), {{"x", 2}}), P("x"))};
  given.from = host;
  given.number = 6;
  Bytes bytes;
  say(bytes, 0, 0, cluster::to_frame(words));
  say(bytes, 1, 0, cluster::to_frame(answer));
  say(bytes, 2, 0, cluster::to_frame(given));
  say(bytes, 4, 0, cluster::resolved_frame(1, {{make_id(1, 7), cancelled("no")}}));
  seeds.write("relay", "words", bytes);
}

}  // namespace
}  // namespace seaway::fuzz

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_seeds DIRECTORY\n");
    return 2;
  }
  const seaway::fuzz::Seeds seeds{words[1]};
  seaway::fuzz::write_roles(seeds);
  seaway::fuzz::write_annexes(seeds);
  seaway::fuzz::write_foreign(seeds);
  seaway::fuzz::write_words(seeds);
  seaway::fuzz::write_data(seeds);
  seaway::fuzz::write_packets(seeds);
  seaway::fuzz::write_envelopes(seeds);
  seaway::fuzz::write_relay(seeds);
  seeds.write("config", "settings", "islands = 2\nlisten = \"unix:/run/ctl.sock\"\n");
  seeds.write("token_store", "none", "");
  return 0;
}
