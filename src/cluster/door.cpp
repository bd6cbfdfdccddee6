// Which role says what to which, and what the lists of its messages are made of.

#include "cluster/door.hpp"

#include <seaway.capnp.h>

#include <string>

#include "seaway/status.hpp"
#include "wire/frame_reader.hpp"

namespace seaway::cluster {
namespace {

using actor::Role;
using wire::Message;

constexpr std::uint8_t kOrderKinds = 6;  // island::Action::Kind, those that are orders.

/// Reads one message as its kind says; what is of another type throws.
class Visitor {
 public:
  Visitor(const RoleName& from, const RoleName& to, const DoorLimits& limits)
      : from_(from), to_(to), limits_(limits) {}

  Status visit(Message::Reader message) {
    // A host holds back whatever is behind a turn that it has not heard of.
    if (from_.role != Role::kIsland && message.getAfterTurn() != 0) {
      return wrong("turn", message.getAfterTurn());
    }
    switch (from_.role) {
      case Role::kController:
        // All that it knows how to say: it could end this process in many other ways. Annexes hear
        // nothing from it.
        if (to_.role == Role::kAnnex) return stray(message);
        return message.isPeer() || message.isPoke() ? stray(message) : Status();
      case Role::kIsland:
        return visit_scheduler(message);
      case Role::kHost:
        return visit_host(message);
      case Role::kClient:
        return visit_client(message);
      case Role::kAnnex:
        return visit_annex(message);
    }
    return stray(message);
  }

 private:
  Status stray(Message::Reader message) const {
    return protocol_error(to_string(from_) + " has sent " + to_string(to_) + " a message of kind " +
                          std::to_string(static_cast<unsigned>(message.which())) +
                          ", which it has no business to");
  }
  Status wrong(const char* what, std::uint64_t number) const {
    return protocol_error(to_string(from_) + " has named " + what + " " + std::to_string(number) +
                          ", which does not exist or is not its own");
  }

  Status visit_client(Message::Reader message) {
    if (message.getClient() != from_.index) return wrong("client", message.getClient());
    if (message.getInView() != 0) return wrong("view", message.getInView());
    if (to_.role == Role::kHost) {
      if (message.isTaken()) {
        for (const auto taken : message.getTaken()) read(taken.getRequest());
        return {};
      }
      if (!message.isBulk()) return stray(message);
      const auto bulk = message.getBulk();
      if (bulk.getKind() != wire::Bulk::Kind::UPLOAD) return stray(message);
      read(bulk.getData().size());
      return client_of(bulk.getId()) == from_.index ? Status() : wrong("array", bulk.getId());
    }
    if (to_.role != Role::kController) return stray(message);
    switch (message.which()) {
      case Message::HELLO: {
        const auto tenant = message.getHello().getTenant();
        const bool is_own =
            limits_.tenant == transport::kNoTenant ||
            limits_.tenant == transport::tenant_key({tenant.begin(), tenant.size()});
        if (is_own) return {};
        return protocol_error(to_string(from_) + " may not work for tenant \"" + tenant.cStr() +
                              "\": it was admitted for another one");
      }
      case Message::GOODBYE:
        return {};
      case Message::DEFINE_FUNCTION:
        return check_own("function", message.getDefineFunction().getId());
      case Message::DEFINE_PROGRAM:
        return check_own("program", message.getDefineProgram().getId());
      case Message::RUNS:
        return check(message.getRuns());
      case Message::REQUEST:
        return check(message.getRequest());
      case Message::COMPLAINT:
        return check(message.getComplaint());
      default:
        return stray(message);
    }
  }

  /// An id that `from_` chooses bears its number. Whether the thing exists, the controller decides.
  Status check_own(const char* what, std::uint64_t id) const {
    return client_of(id) == from_.index ? Status() : wrong(what, id);
  }

  /// Arrays that runs read may be another client's of the same tenant; only the controller can
  /// tell.
  Status check(wire::RunBatch::Reader batch) const {
    const std::uint64_t ids = batch.getIds().size();
    for (const auto record : batch.getRecords()) {
      if (std::uint64_t{record.getArgBegin()} + record.getArgCount() > ids) {
        return wrong("arguments from", record.getArgBegin());
      }
      Status status;
      switch (record.getKind()) {
        case wire::ClientRecord::Kind::RUN:
          status = check_own("program", record.getObject());
          if (status.ok()) status = check_own("run", record.getId());
          if (status.ok()) status = check_own("array", record.getFirst());
          break;
        case wire::ClientRecord::Kind::PUT:
          status = check_own("spec", record.getObject());
          if (status.ok()) status = check_own("array", record.getId());
          break;
        case wire::ClientRecord::Kind::RELEASE:
        case wire::ClientRecord::Kind::FETCH:
          status = check_own("array", record.getId());
          break;
        case wire::ClientRecord::Kind::FORGET:
          status = check_own("definition", record.getId());
          break;
        case wire::ClientRecord::Kind::CANCEL:
          status = check_own("run or array", record.getId());
          break;
        case wire::ClientRecord::Kind::GOT:
          break;  // Requests are numbered by each client for itself.
        default:
          return wrong("kind of record", static_cast<unsigned>(record.getKind()));
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  Status check(wire::Request::Reader request) const {
    switch (request.which()) {
      case wire::Request::ACQUIRE_SLICE:
        return check_own("slice", request.getAcquireSlice().getId());
      case wire::Request::RELEASE_SLICE:
        return check_own("slice", request.getReleaseSlice());
      case wire::Request::REBIND_SLICE:
        return check_own("slice", request.getRebindSlice());
      case wire::Request::WHY:
        return request.getWhy() == 0 ? Status() : check_own("run or array", request.getWhy());
      case wire::Request::DEFINE_SPEC:
        return check_own("spec", request.getDefineSpec().getId());
      case wire::Request::DEFINE_FOREIGN:
        return check_own("function", request.getDefineForeign().getId());
      case wire::Request::STATS:
      case wire::Request::DRAIN:
        return {};
    }
    return wrong("kind of request", static_cast<unsigned>(request.which()));
  }

  Status visit_scheduler(Message::Reader message) {
    switch (message.which()) {
      case Message::EXISTS:
        if (to_.role != Role::kIsland) break;
        for (const auto exists : message.getExists()) read(exists.getStamp());
        return {};
      case Message::ORDERS:
        if (!is_own_host()) break;
        for (const auto order : message.getOrders()) {
          if (order.getKind() >= kOrderKinds) return wrong("order", order.getKind());
        }
        return {};
      case Message::CANCELS:
        if (!is_own_host()) break;
        for (const auto cancel : message.getCancels()) read(cancel.getMessage().size());
        return {};
      case Message::FINISHED:
      case Message::WHY_ANSWER:
      case Message::JOIN:
      case Message::COMPLAINT:
        return visit_to_controller(message);
      default:
        break;
    }
    return stray(message);
  }

  Status visit_host(Message::Reader message) {
    switch (message.which()) {
      case Message::DONES:
        if (!is_own_scheduler()) break;
        for (const auto done : message.getDones().getRecords()) read(done.getId());
        for (const auto failure : message.getDones().getFailures()) {
          read(failure.getMessage().size());
        }
        return {};
      case Message::ISLAND_STATE:
        if (!is_own_scheduler()) break;
        return check(message.getIslandState());
      case Message::EDGES:
        if (to_.role != Role::kHost) break;
        for (const auto edge : message.getEdges()) {
          if (edge.getHost() != from_.index) return wrong("host", edge.getHost());
          if (static_cast<unsigned>(edge.getKind()) >
              static_cast<unsigned>(wire::Edge::Kind::RETURNED))
            return wrong("a word about an edge", static_cast<unsigned>(edge.getKind()));
          read(edge.getMessage().size());
        }
        return {};
      case Message::BULK: {
        const auto bulk = message.getBulk();
        const auto wanted =
            to_.role == Role::kClient ? wire::Bulk::Kind::VALUE : wire::Bulk::Kind::EDGE;
        if (bulk.getKind() != wanted) break;
        if (to_.role != Role::kClient && to_.role != Role::kHost) break;
        read(bulk.getData().size());
        const bool is_offer = to_.role == Role::kClient && bulk.getStreams() > 0;
        if (is_offer && bulk.getHost() != from_.index) return wrong("host", bulk.getHost());
        return {};
      }
      case Message::FETCHED:
        if (to_.role == Role::kClient) return {};  // Who ignores what is none.
        break;
      case Message::PULL:
        if (to_.role != Role::kClient) break;
        return message.getPull().getHost() == from_.index
                   ? Status()
                   : wrong("host", message.getPull().getHost());
      case Message::CALL_FOR_DATA:
        if (to_.role != Role::kClient) break;
        return message.getCallForData() == from_.index ? Status()
                                                       : wrong("host", message.getCallForData());
      case Message::EXCHANGE_WORDS:
        if (!is_own_annex()) break;
        return visit_words(message.getExchangeWords(), 0);
      case Message::ANNEX_ORDERS:
        if (!is_own_annex()) break;
        for (const auto order : message.getAnnexOrders()) read(order);
        return {};
      case Message::WEIGHTS:
        if (!is_own_annex()) break;
        for (const auto weight : message.getWeights()) read(weight.getTenant());
        return {};
      case Message::COMPILE: {
        if (!is_own_annex()) break;
        const auto function = message.getCompile();
        read(function.getGraph().size() + function.getInfo().size() + function.getNative().size() +
             function.getForeign().size());
        for (const auto axis : function.getAxes()) read(axis.getName().size());
        return {};
      }
      case Message::COMPILED:
        if (message.getCompiled().getHost() != from_.index) {
          return wrong("host", message.getCompiled().getHost());
        }
        return visit_to_controller(message);
      case Message::DEVICE_LOST:
        if (message.getDeviceLost().getIsland() != from_.index) {
          return wrong("island", message.getDeviceLost().getIsland());
        }
        return visit_to_controller(message);
      case Message::FINISHED:
      case Message::ARRIVED:
      case Message::WHY_ANSWER:
      case Message::JOIN:
      case Message::COMPLAINT:
        return visit_to_controller(message);
      default:
        break;
    }
    return stray(message);
  }

  Status visit_words(wire::ExchangeWords::Reader said, std::uint32_t host) {
    if (said.getHost() != host) return wrong("host", said.getHost());
    for (const auto word : said.getWords()) {
      if (word.isPacked()) read(word.getPacked().size());
      if (word.isLent()) read(word.getLent().getPieces().size());
      if (word.isFailed()) read(word.getFailed().getMessage().size());
    }
    return {};
  }

  /// To the hosts of its island, and to nobody else.
  Status visit_annex(Message::Reader message) {
    const bool is_own_host =
        to_.role == Role::kHost && to_.index == actor::island_of_annex(from_.index);
    const bool is_neighbour = to_.role == Role::kAnnex && actor::island_of_annex(to_.index) ==
                                                              actor::island_of_annex(from_.index);
    if (message.isExchangeWords() && (is_own_host || is_neighbour)) {
      return visit_words(message.getExchangeWords(), actor::host_of_annex(from_.index));
    }
    if (!is_own_host) return stray(message);
    switch (message.which()) {
      case Message::ANNEX_ANSWERS:
        for (const auto answer : message.getAnnexAnswers()) {
          read(answer.getMessage().size());
          if (answer.isData()) read(answer.getData().size());
          if (answer.isLent()) read(answer.getLent().getBytes());
          if (answer.isNews() && answer.getNews().getHost() != actor::host_of_annex(from_.index)) {
            return wrong("host", answer.getNews().getHost());
          }
        }
        return {};
      case Message::COMPILED:
        if (message.getCompiled().getHost() != actor::host_of_annex(from_.index)) {
          return wrong("host", message.getCompiled().getHost());
        }
        read(message.getCompiled());
        return {};
      default:
        return stray(message);
    }
  }

  /// Of a scheduler or a host.
  Status visit_to_controller(Message::Reader message) {
    if (to_.role != Role::kController) return stray(message);
    switch (message.which()) {
      case Message::FINISHED:
        for (const auto finished : message.getFinished()) {
          if (finished.getIsland() != from_.index) {
            return wrong("island", finished.getIsland());
          }
          read(finished.getMessage().size());
        }
        return {};
      case Message::WHY_ANSWER:
        read(message.getWhyAnswer().getText().size());
        return {};
      case Message::JOIN: {
        const auto join = message.getJoin();
        if (join.getRole() != static_cast<std::uint8_t>(from_.role)) {
          return wrong("role", join.getRole());
        }
        return join.getIsland() == from_.index ? Status() : wrong("island", join.getIsland());
      }
      case Message::COMPLAINT:
        return check(message.getComplaint());
      case Message::COMPILED:
        read(message.getCompiled());
        return {};
      case Message::DEVICE_LOST: {
        const auto lost = message.getDeviceLost();
        read(lost.getMessage().size());
        return lost.getDevice() < limits_.devices ? Status() : wrong("device", lost.getDevice());
      }
      case Message::ARRIVED:
        for (const std::uint64_t array : message.getArrived()) read(array);
        return {};
      default:
        return stray(message);
    }
  }

  /// By `from_`, about somebody else.
  Status check(wire::Complaint::Reader complaint) const {
    if (complaint.getByRole() != static_cast<std::uint8_t>(from_.role)) {
      return wrong("role", complaint.getByRole());
    }
    if (complaint.getByIndex() != from_.index) return wrong("number", complaint.getByIndex());
    const std::uint8_t about = complaint.getRole();
    const bool is_island = about == static_cast<std::uint8_t>(Role::kIsland) ||
                           about == static_cast<std::uint8_t>(Role::kHost);
    if (is_island) {
      if (complaint.getIndex() >= limits_.islands) return wrong("island", complaint.getIndex());
      // A client knows hosts alone, and a scheduler its own.
      const bool is_own = complaint.getIndex() == from_.index;
      const bool is_host = about == static_cast<std::uint8_t>(Role::kHost);
      if (from_.role == Role::kClient && !is_host) return wrong("role", about);
      if (from_.role == Role::kIsland && !is_own) return wrong("island", complaint.getIndex());
      if (from_.role == Role::kHost && !is_host && !is_own) {
        return wrong("island", complaint.getIndex());
      }
      return {};
    }
    if (about == static_cast<std::uint8_t>(Role::kClient) && from_.role == Role::kHost) return {};
    return wrong("role", about);
  }

  Status check(wire::IslandState::Reader state) {
    for (const auto part : state.getParts()) {
      for (const std::uint32_t gang : part.getDone()) read(gang);
      for (const std::uint32_t edge : part.getReceived()) read(edge);
      for (const std::uint32_t edge : part.getDelivered()) read(edge);
    }
    for (const auto array : state.getArrays()) {
      for (const std::uint32_t device : array.getDevices()) {
        if (device >= limits_.devices) return wrong("device", device);
      }
    }
    for (const auto failure : state.getFailures()) read(failure.getMessage().size());
    return {};
  }

  bool is_own_host() const { return to_.role == Role::kHost && to_.index == from_.index; }
  bool is_own_scheduler() const { return to_.role == Role::kIsland && to_.index == from_.index; }

  bool is_own_annex() const {
    return to_.role == Role::kAnnex && actor::island_of_annex(to_.index) == from_.index;
  }

  /// That it can be read is all that is asked.
  void read(std::uint64_t number) { seen_ ^= number; }
  void read(wire::Compiled::Reader compiled) {
    read(compiled.getMessage().size());
    for (const auto pair : compiled.getInPlace()) read(pair.getOutput());
    read(compiled.getForeign().size());
  }
  void read(wire::RoomRange::Reader range) { read(range.getRoom()); }
  void read(wire::AnnexOrder::Reader order) {
    switch (order.which()) {
      case wire::AnnexOrder::MAKE:
        return read(order.getMake().getRoom());
      case wire::AnnexOrder::WRITE:
        read(order.getWrite().getRange());
        return order.getWrite().isData() ? read(order.getWrite().getData().size())
                                         : read(order.getWrite().getLent().getBytes());
      case wire::AnnexOrder::READ:
        return read(order.getRead().getRange());
      case wire::AnnexOrder::RUN: {
        const auto run = order.getRun();
        for (const auto operand : run.getOperands()) read(operand.getRoom());
        for (const auto output : run.getOutputs()) read(output.getRoom());
        for (const auto wanted : run.getReads()) read(wanted.getRange());
        return read(run.getScratch().getRoom());
      }
      case wire::AnnexOrder::DROP:
      case wire::AnnexOrder::FORGET:
      case wire::AnnexOrder::TAKEN:
        return;  // Numbers; a kind of a later version is for the annex to refuse.
    }
  }

  const RoleName& from_;
  const RoleName& to_;
  const DoorLimits& limits_;
  std::uint64_t seen_ = 0;
};

}  // namespace

Status check_at_door(const RoleName& from, const RoleName& to, const Frame& frame,
                     const DoorLimits& limits) {
  Visitor visitor(from, to, limits);
  return wire::read_frame<Message>(frame,
                                   [&](Message::Reader message) { return visitor.visit(message); });
}

}  // namespace seaway::cluster
