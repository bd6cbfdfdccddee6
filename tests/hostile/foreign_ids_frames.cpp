// foreign_ids [PROBES [FLIPS [SEED]]]: a hostile client names the things of another tenant in each
// number of each message that a client may send, and nothing comes of it. Then so many bits are
// flipped in each of its messages, and nobody but the client is lost.
//
// The numbers are enumerated from the schemas, also those inside of definitions. A controller takes
// the frames as it would from a connection. An effect is any frame that it then sends to the other
// client, or that names anything of the other client, or the loss of anybody else. Ends with
// `N probes, N effects`.

#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <program.capnp.h>
#include <seaway.capnp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actor/router.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "client/frames.hpp"
#include "client/record.hpp"
#include "client/registry.hpp"
#include "cluster/door.hpp"
#include "cluster/role_options.hpp"
#include "controller/controller_actor.hpp"
#include "events/event_stream.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"

namespace seaway {
namespace {

using actor::Role;
using capnp::DynamicList;
using capnp::DynamicStruct;
using capnp::DynamicValue;
using wire::Message;

constexpr std::uint32_t kIslands = 2, kDevices = 4;
/// Their ids begin with bits that no other number has.
constexpr ClientId kVictim = 0xabcde, kHostile = 0xabcdf;

/// What a field of bytes is a message of.
capnp::StructSchema schema_of(const std::string& path) {
  static const std::map<std::string, capnp::StructSchema> kSchemas = {
      {"defineFunction.graph", capnp::Schema::from<schema::FunctionGraph>()},
      {"defineFunction.info", capnp::Schema::from<schema::FunctionInfo>()},
      {"defineFunction.foreign", capnp::Schema::from<schema::ForeignProgram>()},
      {"defineProgram.graph[]", capnp::Schema::from<schema::ProgramGraph>()},
      {"request.defineSpec.spec", capnp::Schema::from<schema::ArraySpec>()},
      {"request.defineForeign.graph", capnp::Schema::from<schema::FunctionGraph>()},
      {"request.defineForeign.info", capnp::Schema::from<schema::FunctionInfo>()},
      {"request.defineForeign.foreign", capnp::Schema::from<schema::ForeignProgram>()}};
  const auto found = kSchemas.find(path);
  return found == kSchemas.end() ? capnp::StructSchema() : found->second;
}
bool is_message(const std::string& path) { return schema_of(path).getProto().getId() != 0; }

/// The kinds of messages that clients send to the controller.
const std::set<std::string> kClientKinds = {"hello", "defineFunction", "defineProgram",
                                            "runs",  "request",        "complaint"};

bool is_number(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::UINT8:
    case capnp::schema::Type::UINT16:
    case capnp::schema::Type::UINT32:
    case capnp::schema::Type::UINT64:
    case capnp::schema::Type::INT32:
    case capnp::schema::Type::INT64:
      return true;
    default:
      return false;
  }
}

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

/// All numbers that a message of `schema` may have, by their paths.
void list_numbers(capnp::StructSchema schema, const std::string& path, std::set<std::string>& all);

void list_numbers(capnp::Type type, const std::string& path, std::set<std::string>& all) {
  if (is_number(type)) {
    all.insert(path);
  } else if (type.isStruct()) {
    list_numbers(type.asStruct(), path, all);
  } else if (type.isList()) {
    list_numbers(type.asList().getElementType(), path + "[]", all);
  } else if (type.isData() && is_message(path)) {
    list_numbers(schema_of(path), path, all);
  }
}

void list_numbers(capnp::StructSchema schema, const std::string& path, std::set<std::string>& all) {
  for (const auto field : schema.getFields()) {
    const std::string name = field.getProto().getName().cStr();
    const bool is_kind = path.empty() && field.getProto().getDiscriminantValue() != 0xffff;
    if (is_kind && !kClientKinds.contains(name)) continue;
    list_numbers(field.getType(), join(path, name), all);
  }
}

/// Visits the numbers of one message in order, and sets one of them.
class Walk {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;
  Walk(std::size_t wanted, std::uint64_t value) : wanted_(wanted), value_(value) {}

  void visit(DynamicStruct::Builder message, const std::string& path) {
    for (const auto field : message.getSchema().getFields()) {
      if (!is_there(message, field)) continue;
      const std::string name = join(path, field.getProto().getName().cStr());
      const capnp::Type type = field.getType();
      if (is_number(type)) {
        if (is_wanted(name)) set(type, [&](auto value) { message.set(field, value); });
      } else if (type.isStruct()) {
        visit(message.get(field).as<DynamicStruct>(), name);
      } else if (type.isList()) {
        visit(message.get(field).as<DynamicList>(), name + "[]");
      } else if (type.isData() && is_message(name)) {
        const capnp::Data::Builder data = message.get(field).as<capnp::Data>();
        visit_bytes(data.asReader(), name,
                    [&](capnp::Data::Reader changed) { message.set(field, changed); });
      }
    }
  }

  std::size_t count() const { return at_; }
  const std::string& path() const { return path_; }
  const std::set<std::string>& paths() const { return paths_; }

 private:
  static bool is_there(DynamicStruct::Builder message, capnp::StructSchema::Field field) {
    if (field.getProto().getDiscriminantValue() != 0xffff) {
      KJ_IF_MAYBE (which, message.which()) {
        if (!(*which == field)) return false;
      } else {
        return false;
      }
    }
    const auto type = field.getType();
    const bool is_pointer =
        type.isList() || type.isData() || (type.isStruct() && field.getProto().isSlot());
    return !is_pointer || message.has(field);
  }

  void visit(DynamicList::Builder list, const std::string& path) {
    const capnp::Type type = list.getSchema().getElementType();
    for (unsigned i = 0; i < list.size(); ++i) {
      if (is_number(type)) {
        if (is_wanted(path)) set(type, [&](auto value) { list.set(i, value); });
      } else if (type.isStruct()) {
        visit(list[i].as<DynamicStruct>(), path);
      } else if (type.isList()) {
        visit(list[i].as<DynamicList>(), path + "[]");
      } else if (type.isData() && is_message(path)) {
        const capnp::Data::Builder data = list[i].as<capnp::Data>();
        visit_bytes(data.asReader(), path,
                    [&](capnp::Data::Reader changed) { list.set(i, changed); });
      }
    }
  }

  void visit_bytes(capnp::Data::Reader data, const std::string& path,
                   const std::function<void(capnp::Data::Reader)>& replace) {
    if (data.size() == 0) return;
    auto words = kj::heapArray<capnp::word>(data.size() / sizeof(capnp::word));
    std::memcpy(words.begin(), data.begin(), words.size() * sizeof(capnp::word));
    capnp::FlatArrayMessageReader reader(words);
    capnp::MallocMessageBuilder inner;
    inner.setRoot(reader.getRoot<DynamicStruct>(schema_of(path)));
    const std::size_t before = at_;
    visit(inner.getRoot<DynamicStruct>(schema_of(path)), path);
    if (wanted_ < before || wanted_ >= at_) return;
    const auto flat = capnp::messageToFlatArray(inner);
    replace(capnp::Data::Reader(flat.asBytes().begin(), flat.asBytes().size()));
  }

  bool is_wanted(const std::string& path) {
    paths_.insert(path);
    if (at_++ != wanted_) return false;
    path_ = path;
    return true;
  }
  void set(capnp::Type type, const std::function<void(DynamicValue::Reader)>& set) const {
    switch (type.which()) {
      case capnp::schema::Type::UINT8:
        return set(static_cast<std::uint8_t>(value_));
      case capnp::schema::Type::UINT16:
        return set(static_cast<std::uint16_t>(value_));
      case capnp::schema::Type::UINT32:
        return set(static_cast<std::uint32_t>(value_));
      case capnp::schema::Type::INT32:
        return set(static_cast<std::int32_t>(value_));
      case capnp::schema::Type::INT64:
        return set(static_cast<std::int64_t>(value_));
      default:
        return set(value_);
    }
  }

  const std::size_t wanted_;
  const std::uint64_t value_;
  std::size_t at_ = 0;
  std::string path_;
  std::set<std::string> paths_;
};

/// Every pointer leads somewhere, and every list has one element; of unions the `number`-th member.
void fill(DynamicStruct::Builder message, const std::string& path, unsigned number);

void fill(DynamicList::Builder list, const std::string& path, unsigned number);

capnp::Orphan<capnp::Data> filled_bytes(capnp::Orphanage orphanage, const std::string& path,
                                        unsigned number) {
  capnp::MallocMessageBuilder inner;
  if (is_message(path)) fill(inner.initRoot<DynamicStruct>(schema_of(path)), path, number);
  const auto flat = capnp::messageToFlatArray(inner);
  return orphanage.newOrphanCopy(
      capnp::Data::Reader(flat.asBytes().begin(), flat.asBytes().size()));
}

void fill(DynamicStruct::Builder message, const std::string& path, unsigned number) {
  const auto unions = message.getSchema().getUnionFields();
  for (const auto field : message.getSchema().getFields()) {
    const bool is_member = field.getProto().getDiscriminantValue() != 0xffff;
    if (is_member && !(unions[number % unions.size()] == field)) continue;
    const std::string name = join(path, field.getProto().getName().cStr());
    const capnp::Type type = field.getType();
    if (type.isStruct()) {
      fill(message.init(field).as<DynamicStruct>(), name, number);
    } else if (type.isList()) {
      fill(message.init(field, 1).as<DynamicList>(), name + "[]", number);
    } else if (type.isData()) {
      auto orphan = filled_bytes(capnp::Orphanage::getForMessageContaining(message), name, number);
      message.adopt(field, kj::mv(orphan));
    } else if (is_number(type) && is_member) {
      message.set(field, static_cast<std::uint8_t>(1));
    } else if (type.isVoid() && is_member) {
      message.set(field, capnp::VOID);
    }
  }
}

void fill(DynamicList::Builder list, const std::string& path, unsigned number) {
  const capnp::Type type = list.getSchema().getElementType();
  if (type.isStruct()) fill(list[0].as<DynamicStruct>(), path, number);
  if (type.isList()) fill(list.init(0, 1).as<DynamicList>(), path + "[]", number);
  if (type.isData()) {
    capnp::MallocMessageBuilder inner;
    if (is_message(path)) fill(inner.initRoot<DynamicStruct>(schema_of(path)), path, number);
    const auto flat = capnp::messageToFlatArray(inner);
    list.set(0, capnp::Data::Reader(flat.asBytes().begin(), flat.asBytes().size()));
  }
}

/// What one client has in the cluster.
struct Things {
  explicit Things(ClientId of) : client(of) {}
  ClientId client;
  SliceId slice = make_id(client, 1);
  FunctionId function = make_id(client, 2);
  ProgramId program = make_id(client, 3);
  std::uint64_t spec = make_id(client, 4);
  ArrayId array = make_id(client, 5);
  ArrayId output = make_id(client, 6);
  RunId run = make_id(client, 7);

  std::vector<std::uint64_t> ids() const {
    return {client, slice, function, program, spec, array, output, run, make_id(client, 0)};
  }
};

/// In the order in which a client sends them.
std::vector<Frame> honest_frames(const Things& things) {
  namespace frames = client::frames;
  const ClientId client = things.client;
  const TensorType type = f32({2});
  const Mesh mesh(things.slice, {{"x", 2}});
  const ArraySpec spec{f32({4}), NamedSharding(mesh, P("x"))};
  ClientOptions options;
  options.tenant = std::to_string(client);
  std::vector<Frame> all = {frames::hello(client, 1, options)};
  SliceRequest wanted;
  wanted.devices = 2;
  wanted.mesh = {{"x", 2}};
  wanted.island = 0;
  all.push_back(frames::acquire_slice(client, 2, things.slice, wanted));
  client::FunctionDefinition function;
  function.info.id = things.function;
  function.info.name = "twice";
  function.info.parameters = function.info.outputs = {type};
  function.graph.name = "twice";
  function.graph.instructions = {{.op = function::Op::kParameter, .type = type},
                                 {.op = function::Op::kAdd, .type = type, .operands = {0, 0}}};
  function.graph.parameters = {0};
  function.graph.outputs = {1};
  all.push_back(frames::define_function(client, function));
  program::ProgramGraph program;
  program.id = things.program;
  program.name = "p";
  program.parameters = {spec};
  program.donated = {false};
  program::Node node;
  node.function = things.function;
  node.mesh = mesh;
  node.operands = {{program::ValueRef::kParameter, 0}};
  node.in_specs = {P("x")};
  node.outputs = {spec};
  program.nodes = {node};
  program.outputs = {{0, 0}};
  all.push_back(frames::define_program(client, program));
  client::SpecRecord record;
  record.id = things.spec;
  record.outputs = {spec};
  all.push_back(frames::define_spec(client, 3, record));
  std::vector<client::Said> said(5);
  said[0].kind = client::Said::Kind::kPut;
  said[0].id = things.array;
  said[0].object = things.spec;
  said[1].kind = client::Said::Kind::kRun;
  said[1].id = things.run;
  said[1].object = things.program;
  said[1].first = things.output;
  said[1].argument_count = 1;
  said[2].kind = client::Said::Kind::kFetch;
  said[2].id = things.output;
  said[2].object = 9;
  said[3].kind = client::Said::Kind::kGot;
  said[3].id = 9;
  said[4].kind = client::Said::Kind::kCancel;
  said[4].id = make_id(client, 8);
  const std::vector<ArrayId> arguments = {things.array};
  all.push_back(frames::runs(client, std::span(said).first(3), arguments));
  all.push_back(frames::runs(client, std::span(said).subspan(3), {}));
  all.push_back(frames::why(client, 4, things.run));
  all.push_back(frames::stats(client, 5));
  all.push_back(frames::drain(client, 6));
  all.push_back(frames::rebind_slice(client, 7, things.slice));
  all.push_back(frames::complaint(client, 0, 1));
  return all;
}

/// One for each kind and each request, with every field.
std::vector<Frame> full_frames() {
  std::vector<Frame> all;
  for (const std::string& kind : kClientKinds) {
    for (unsigned number = 0; number < 12; ++number) {
      capnp::MallocMessageBuilder builder;
      auto message = builder.initRoot<Message>();
      DynamicStruct::Builder dynamic = message;
      const auto field = dynamic.getSchema().getFieldByName(kind.c_str());
      fill(dynamic.init(field).as<DynamicStruct>(), kind, number);
      message.setClient(kHostile);
      all.push_back(wire::freeze(builder));
    }
  }
  return all;
}

cluster::EmbeddedOptions cluster_options() {
  cluster::EmbeddedOptions options;
  options.islands = kIslands;
  options.devices = kDevices;
  options.device_memory = 1 << 20;
  options.host_memory = 1 << 20;
  return options;
}

template <class Use>
void use_copy(const Frame& frame, Use&& use) {
  const Status status = wire::read_frame<Message>(frame, [&](Message::Reader reader) {
    capnp::MallocMessageBuilder builder;
    builder.setRoot(reader);
    use(builder);
  });
  if (!status.ok()) std::abort();
}

/// A client numbers its requests as it likes: a host gets such a number together with the client's.
Frame without_requests(const Frame& frame) {
  Frame without;
  use_copy(frame, [&without](capnp::MallocMessageBuilder& builder) {
    auto message = builder.getRoot<Message>();
    const auto clear = [](capnp::List<wire::ArrayRecord>::Builder records) {
      for (auto record : records) {
        if (record.getKind() == wire::ArrayRecord::Kind::FETCH) record.setObject(0);
      }
    };
    if (message.isArrays()) clear(message.getArrays());
    if (message.isLaunches()) clear(message.getLaunches().getFetches());
    without = wire::freeze(builder);
  });
  return without;
}

/// A controller whose hosts, schedulers and clients are other processes.
class World {
 public:
  World()
      : binder_(cluster::make_binder(cluster_options())),
        actor_(controller_options(), *binder_, router_, clock_, events_) {
    router_.set_elsewhere([this](Role role, std::uint32_t index, const Frame& frame,
                                 transport::Lane) { sent(role, index, frame); });
    router_.on_malformed([this](Role role, std::uint32_t index, const Status& why) {
      if (role == Role::kClient && index == kHostile) return;
      effect("role " + std::to_string(static_cast<int>(role)) + ", number " +
             std::to_string(index) + " is lost: " + why.message());
    });
    for (IslandId island = 0; island < kIslands; ++island) {
      actor_.core().host_joined(island, 1);
      actor_.core().scheduler_joined(island, 1);
    }
    actor_.idle();
  }

  /// All that `things` stand for is there then, and its run is in flight.
  void settle(const Things& things) {
    for (const Frame& frame : honest_frames(things)) {
      if (!take(frame, things.client).ok()) std::abort();
      for (HostId host = 0; host < kIslands; ++host) {
        actor_.core().compiled(things.function, host, {}, 0, 1000, {});
      }
      actor_.core().arrived(things.array);
      actor_.idle();
    }
  }
  Status take(const Frame& frame, ClientId from) {
    const cluster::DoorLimits limits{.islands = kIslands,
                                     .devices = kDevices,
                                     .tenant = transport::tenant_key(std::to_string(from))};
    Status status =
        cluster::check_at_door({Role::kClient, from}, {Role::kController, 0}, frame, limits);
    if (status.ok()) actor_.receive(frame);
    return status;
  }
  void idle() { actor_.idle(); }

  /// From now on nothing is sent that concerns the victim.
  void watch(std::function<std::string()> describe) { describe_ = std::move(describe); }
  std::uint64_t effects() const { return effects_; }
  std::uint64_t frames() const { return frames_; }

 private:
  static controller::ControllerOptions controller_options() {
    controller::ControllerOptions made = cluster::controller_options(cluster_options());
    made.has_members = true;
    made.life = 1;
    return made;
  }

  void sent(Role role, std::uint32_t index, const Frame& frame) {
    ++frames_;
    if (!describe_) return;
    if (role == Role::kClient && index == kVictim) effect("a frame to the victim");
    if (role == Role::kClient) return;
    for (const std::uint64_t word : without_requests(frame).words()) {
      if (client_of(word) == kVictim) effect("a frame names " + std::to_string(sequence_of(word)));
    }
  }
  void effect(const std::string& what) {
    if (++effects_ <= 20) {
      std::printf("effect: %s: %s\n", describe_ ? describe_().c_str() : "", what.c_str());
    }
  }

  ManualClock clock_;
  events::EventStream events_{64};
  actor::Router router_;
  std::unique_ptr<program::SliceBinder> binder_;
  std::function<std::string()> describe_;
  std::uint64_t effects_ = 0, frames_ = 0;
  controller::ControllerActor actor_;
};

int run(std::uint64_t probes, std::uint64_t flips, std::uint64_t seed) {
  World world;
  const Things victim(kVictim), hostile(kHostile);
  world.settle(victim);
  world.settle(hostile);
  if (world.frames() < 20) {
    std::printf("only %lu frames came of honest clients\n", world.frames());
    return 1;
  }
  std::vector<Frame> templates = honest_frames(hostile);
  const std::size_t honest = templates.size();
  for (const Frame& frame : full_frames()) templates.push_back(frame);
  std::set<std::string> all, reached;
  list_numbers(capnp::Schema::from<Message>(), "", all);
  std::vector<std::size_t> counts;
  for (const Frame& frame : templates) {
    use_copy(frame, [&](capnp::MallocMessageBuilder& builder) {
      Walk walk(Walk::kNone, 0);
      walk.visit(builder.getRoot<Message>(), "");
      counts.push_back(walk.count());
      reached.insert(walk.paths().begin(), walk.paths().end());
    });
  }
  for (const std::string& path : all) {
    if (!reached.contains(path)) std::printf("no frame has %s\n", path.c_str());
  }
  if (!std::includes(reached.begin(), reached.end(), all.begin(), all.end())) return 1;

  std::string what;
  world.watch([&what] { return what; });
  const std::vector<std::uint64_t> ids = victim.ids();
  RandomStream random(seed, 1);
  std::uint64_t taken = 0;
  for (std::uint64_t probe = 0; probe < probes; ++probe) {
    // One number of a frame that is honest else; now and then a second one.
    const std::size_t at =
        random.chance(80) ? random.below(honest) : random.below(templates.size());
    use_copy(templates[at], [&](capnp::MallocMessageBuilder& builder) {
      what.clear();
      for (int left = random.chance(30) ? 2 : 1; left > 0; --left) {
        const std::uint64_t id = ids[random.below(ids.size())];
        Walk walk(random.below(counts[at]), id);
        walk.visit(builder.getRoot<Message>(), "");
        what += walk.path() + " = " + std::to_string(sequence_of(id)) + " ";
      }
      taken += world.take(wire::freeze(builder), kHostile).ok() ? 1 : 0;
    });
    world.idle();
  }
  std::uint64_t whole = 0;
  for (std::size_t at = 0; at < honest; ++at) {
    for (std::uint64_t flip = 0; flip < flips; ++flip) {
      std::vector<std::uint64_t> words(templates[at].words().begin(), templates[at].words().end());
      for (int left = random.chance(30) ? 2 : 1; left > 0; --left) {
        words[random.below(words.size())] ^= std::uint64_t{1} << random.below(64);
      }
      what = "flip " + std::to_string(flip) + " of message " + std::to_string(at);
      const Frame frame = Frame::make(words.size(), [&words](std::span<std::uint64_t> out) {
        std::copy(words.begin(), words.end(), out.begin());
      });
      whole += world.take(frame, kHostile).ok() ? 1 : 0;
      world.idle();
    }
  }
  std::printf("%lu of %lu damaged messages were taken\n", whole, honest * flips);
  std::printf("%zu numbers of %zu messages; %lu frames were taken, %lu refused\n", all.size(),
              templates.size(), taken, probes - taken);
  std::printf("%lu probes, %lu effects\n", probes + honest * flips, world.effects());
  return world.effects() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace seaway

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  return seaway::run(number(1, 100'000), number(2, 2'000), number(3, 1));
}
