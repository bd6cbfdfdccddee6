// Cap'n Proto of annexes' orders and answers.

#include "device/annex_codec.hpp"

#include <seaway.capnp.h>

#include <utility>

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using wire::Message;

/// Of orders and answers in one frame, beside the bytes of values.
constexpr std::size_t kWordsMax = 4096;

capnp::Data::Reader data_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}
std::vector<std::byte> bytes_of(capnp::Data::Reader data) {
  const auto bytes = std::as_bytes(std::span(data.begin(), data.size()));
  return {bytes.begin(), bytes.end()};
}

void write(wire::RoomRange::Builder to, const RoomRange& range) {
  to.setRoom(range.room);
  to.setFirst(range.first);
  to.setShards(range.shards);
  to.setOffset(range.offset);
  to.setBytes(range.bytes);
}
RoomRange read(wire::RoomRange::Reader from) {
  return {from.getRoom(), from.getFirst(), from.getShards(), from.getOffset(), from.getBytes()};
}

void write(wire::RoomPlace::Builder to, const RoomPlace& place) {
  to.setRoom(place.room);
  to.setOffset(place.offset);
}
RoomPlace read(wire::RoomPlace::Reader from) { return {from.getRoom(), from.getOffset()}; }

struct Writer {
  wire::AnnexOrder::Builder to;

  void operator()(const MakeRoom& make) {
    auto made = to.initMake();
    made.setRoom(make.room);
    made.setFirst(make.first);
    made.setShards(make.shards);
    made.setShardBytes(make.shard_bytes);
  }
  void operator()(const DropRoom& drop) { to.setDrop(drop.room); }
  void operator()(const WriteRoom& order) {
    auto written = to.initWrite();
    write(written.initRange(), order.range);
    written.setData(data_of(order.data));
  }
  void operator()(const ReadRoom& order) {
    auto wanted = to.initRead();
    wanted.setTicket(order.ticket);
    write(wanted.initRange(), order.range);
  }
  void operator()(const RunStage& run) {
    auto stage = to.initRun();
    stage.setTicket(run.ticket);
    stage.setFunction(run.function);
    stage.setStage(run.stage);
    stage.setConflict(run.has_conflict);
    stage.setFirst(static_cast<std::uint32_t>(run.shards.begin));
    stage.setEnd(static_cast<std::uint32_t>(run.shards.end));
    stage.setCount(static_cast<std::uint32_t>(run.shards.count));
    stage.setCostNs(run.cost_ns);
    const auto copy = [](const std::vector<RoomPlace>& places, auto list) {
      for (unsigned i = 0; i < places.size(); ++i) write(list[i], places[i]);
    };
    copy(run.operands, stage.initOperands(static_cast<unsigned>(run.operands.size())));
    copy(run.outputs, stage.initOutputs(static_cast<unsigned>(run.outputs.size())));
    write(stage.initScratch(), run.scratch);
  }
  void operator()(const ForgetFunction& forget) { to.setForget(forget.function); }
};

AnnexOrder read(wire::RunStage::Reader from) {
  RunStage run{.ticket = from.getTicket(),
               .function = from.getFunction(),
               .stage = from.getStage(),
               .has_conflict = from.getConflict(),
               .shards = {from.getFirst(), from.getEnd(), from.getCount()},
               .cost_ns = from.getCostNs(),
               .operands = {},
               .outputs = {},
               .scratch = read(from.getScratch())};
  for (const auto place : from.getOperands()) run.operands.push_back(read(place));
  for (const auto place : from.getOutputs()) run.outputs.push_back(read(place));
  return run;
}

Result<AnnexOrder> read(wire::AnnexOrder::Reader from) {
  switch (from.which()) {
    case wire::AnnexOrder::MAKE: {
      const auto make = from.getMake();
      return AnnexOrder(
          MakeRoom{make.getRoom(), make.getFirst(), make.getShards(), make.getShardBytes()});
    }
    case wire::AnnexOrder::DROP:
      return AnnexOrder(DropRoom{from.getDrop()});
    case wire::AnnexOrder::WRITE:
      return AnnexOrder(
          WriteRoom{read(from.getWrite().getRange()), bytes_of(from.getWrite().getData())});
    case wire::AnnexOrder::READ:
      return AnnexOrder(ReadRoom{from.getRead().getTicket(), read(from.getRead().getRange())});
    case wire::AnnexOrder::RUN:
      return read(from.getRun());
    case wire::AnnexOrder::FORGET:
      return AnnexOrder(ForgetFunction{from.getForget()});
  }
  return protocol_error("an order of kind " + std::to_string(static_cast<int>(from.which())) +
                        " is none");
}

std::size_t bytes_of(const AnnexOrder& order) {
  const auto* const write = std::get_if<WriteRoom>(&order);
  return write ? write->data.size() : 0;
}
std::size_t bytes_of(const AnnexAnswer& answer) { return answer.data.size(); }

/// As many as go into one frame: at least one.
template <class T>
std::size_t count_for_frame(std::span<const T> all) {
  std::size_t count = 0, bytes = 0;
  while (count < all.size() && count < kWordsMax) {
    bytes += bytes_of(all[count]);
    if (count > 0 && bytes > kAnnexFrameBytes) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<Frame> encode_orders(std::span<const AnnexOrder> orders) {
  std::vector<Frame> frames;
  while (!orders.empty()) {
    const std::size_t count = count_for_frame(orders);
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initAnnexOrders(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) std::visit(Writer{list[i]}, orders[i]);
    frames.push_back(builder.finish());
    orders = orders.subspan(count);
  }
  return frames;
}

Result<std::vector<AnnexOrder>> decode_orders(const Frame& frame) {
  std::vector<AnnexOrder> orders;
  Status status = wire::read_frame<Message>(frame, [&orders](Message::Reader message) -> Status {
    if (!message.isAnnexOrders()) return protocol_error("it has no orders for an annex");
    for (const auto one : message.getAnnexOrders()) {
      auto order = read(one);
      if (!order.ok()) return order.status();
      orders.push_back(std::move(order).value());
    }
    return {};
  });
  if (!status.ok()) return status;
  return orders;
}

std::vector<Frame> encode_answers(std::span<const AnnexAnswer> answers) {
  std::vector<Frame> frames;
  while (!answers.empty()) {
    const std::size_t count = count_for_frame(answers);
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initAnnexAnswers(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) {
      list[i].setTicket(answers[i].ticket);
      list[i].setCode(static_cast<std::uint8_t>(answers[i].status.code()));
      if (!answers[i].status.ok()) list[i].setMessage(answers[i].status.message());
      list[i].setData(data_of(answers[i].data));
    }
    frames.push_back(builder.finish());
    answers = answers.subspan(count);
  }
  return frames;
}

Result<std::vector<AnnexAnswer>> decode_answers(const Frame& frame) {
  std::vector<AnnexAnswer> answers;
  Status status = wire::read_frame<Message>(frame, [&answers](Message::Reader message) -> Status {
    if (!message.isAnnexAnswers()) return protocol_error("it has no answers of an annex");
    for (const auto one : message.getAnnexAnswers()) {
      answers.push_back({one.getTicket(), wire::read_status(one.getCode(), one.getMessage()),
                         bytes_of(one.getData())});
    }
    return {};
  });
  if (!status.ok()) return status;
  return answers;
}

}  // namespace seaway::device
