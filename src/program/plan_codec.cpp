// DefinePlan, both ways.

#include "program/plan_codec.hpp"

#include <seaway.capnp.h>

#include <memory>
#include <string>
#include <utility>

#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::program {

using wire::Message;

Result<Frame> encode_plan_frame(const PartPlan& plan, std::size_t bytes_max) {
  const Frame part = encode_frame(plan);
  if (part.size_bytes() > bytes_max) {
    return resource_exhausted("its part on island " + std::to_string(plan.island) + " has " +
                              std::to_string(plan.gangs.size()) + " gangs in " +
                              std::to_string(part.size_bytes()) + " bytes; the limit is " +
                              std::to_string(bytes_max) + ": split it into smaller programs");
  }
  wire::FrameBuilder builder;
  auto definition = builder.init_root<Message>().initDefinePlan();
  definition.setId(plan.id);
  definition.setPart(wire::frame_data(part));
  return builder.finish();
}

Result<PartPlanPtr> decode_plan_frame(const Frame& frame) {
  PartPlanPtr plan;
  const Status status = wire::read_frame<Message>(frame, [&plan](Message::Reader message) {
    auto part = decode_part_plan(wire::data_frame(message.getDefinePlan().getPart()));
    if (part.ok()) plan = std::make_shared<const PartPlan>(std::move(part).value());
    return part.status();
  });
  if (!status.ok()) return status;
  return plan;
}

}  // namespace seaway::program
