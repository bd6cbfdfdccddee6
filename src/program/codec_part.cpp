// Codec of part plans, field by field; validate_part.cpp checks what comes in.

#include "program/codec_lists.hpp"

namespace seaway::program {

using namespace internal;

namespace {

void encode(const DeviceGroup& group, schema::DeviceGroup::Builder out) {
  fill(group.devices, out.initDevices(count(group.devices.size())));
  encode_each(group.axes, out.initAxes(count(group.axes.size())));
}

Status decode(schema::DeviceGroup::Reader in, DeviceGroup& group) {
  const auto devices = in.getDevices();
  if (Status status = check_count(devices.size(), limits::kMeshDevices, "group"); !status.ok())
    return status;
  read_numbers(devices, group.devices);
  return decode_axes(in.getAxes(), group.axes);
}

void encode(const Value& value, schema::Value::Builder out) {
  out.setPlace(static_cast<std::uint8_t>(value.place));
  out.setIndex(value.index);
  out.setGroup(value.group);
  out.setOffset(value.offset);
  out.setShardBytes(value.shard_bytes);
  program::encode(value.type, out.initType());
  program::encode(value.spec, out.initSpec());
}

Status decode(schema::Value::Reader in, Value& value) {
  if (Status status = read_enum(in.getPlace(), Value::Place::kOutput, "place", value.place);
      !status.ok())
    return status;
  value.index = in.getIndex();
  value.group = in.getGroup();
  value.offset = in.getOffset();
  value.shard_bytes = in.getShardBytes();
  if (Status status = program::decode(in.getType(), value.type); !status.ok()) return status;
  return program::decode(in.getSpec(), value.spec);
}

void encode(const Gang& gang, schema::Gang::Builder out) {
  out.setKind(static_cast<std::uint8_t>(gang.kind));
  out.setPosition(gang.position);
  out.setNode(gang.node);
  out.setFunction(gang.function);
  out.setGroup(gang.group);
  out.setSourceGroup(gang.source_group);
  fill(gang.operands, out.initOperands(count(gang.operands.size())));
  fill(gang.results, out.initResults(count(gang.results.size())));
  out.setScratchOffset(gang.scratch_offset);
  out.setCostNs(gang.cost_ns);
}

Status decode(schema::Gang::Reader in, Gang& gang) {
  if (Status status = read_enum(in.getKind(), Gang::Kind::kSend, "kind of gang", gang.kind);
      !status.ok())
    return status;
  gang.position = in.getPosition();
  gang.node = in.getNode();
  gang.function = in.getFunction();
  gang.group = in.getGroup();
  gang.source_group = in.getSourceGroup();
  read_numbers(in.getOperands(), gang.operands);
  read_numbers(in.getResults(), gang.results);
  gang.scratch_offset = in.getScratchOffset();
  gang.cost_ns = in.getCostNs();
  return {};
}

void encode(const Receive& receive, schema::Receive::Builder out) {
  out.setEdge(receive.edge);
  out.setPeer(receive.peer);
  out.setValue(receive.value);
  out.setFirstGang(receive.first_gang);
  encode(receive.source_group, out.initSourceGroup());
  program::encode(receive.source_spec, out.initSourceSpec());
}

Status decode(schema::Receive::Reader in, Receive& receive) {
  receive.edge = in.getEdge();
  receive.peer = in.getPeer();
  receive.value = in.getValue();
  receive.first_gang = in.getFirstGang();
  if (Status status = decode(in.getSourceGroup(), receive.source_group); !status.ok())
    return status;
  return program::decode(in.getSourceSpec(), receive.source_spec);
}

void encode(const Send& send, schema::Send::Builder out) {
  out.setEdge(send.edge);
  out.setPeer(send.peer);
  out.setValue(send.value);
  out.setGang(send.gang);
  encode(send.target_group, out.initTargetGroup());
  program::encode(send.target_spec, out.initTargetSpec());
}

Status decode(schema::Send::Reader in, Send& send) {
  send.edge = in.getEdge();
  send.peer = in.getPeer();
  send.value = in.getValue();
  send.gang = in.getGang();
  if (Status status = decode(in.getTargetGroup(), send.target_group); !status.ok()) return status;
  return program::decode(in.getTargetSpec(), send.target_spec);
}

void encode(const Arg& arg, schema::Arg::Builder out) {
  out.setParameter(arg.parameter);
  out.setValue(arg.value);
  out.setLastGang(arg.last_gang);
  out.setDonatedTo(arg.donated_to);
  out.setDonated(arg.donated);
}

Status decode(schema::Arg::Reader in, Arg& arg) {
  arg = {in.getParameter(), in.getValue(), in.getLastGang(), in.getDonatedTo(), in.getDonated()};
  return {};
}

void encode(const Output& output, schema::Output::Builder out) {
  out.setOutput(output.output);
  out.setValue(output.value);
  out.setGang(output.gang);
}

Status decode(schema::Output::Reader in, Output& output) {
  output = {in.getOutput(), in.getValue(), in.getGang()};
  return {};
}

void encode(const Block& block, schema::Block::Builder out) {
  out.setGroup(block.group);
  auto steps = out.initSteps(count(block.steps.size()));
  for (unsigned i = 0; i < steps.size(); ++i) {
    steps[i].setGang(block.steps[i].gang);
    steps[i].setBytes(block.steps[i].bytes);
  }
}

Status decode(schema::Block::Reader in, Block& block) {
  block.group = in.getGroup();
  for (const auto step : in.getSteps()) block.steps.push_back({step.getGang(), step.getBytes()});
  return {};
}

template <class Items, class List>
void encode_all(const Items& items, List out) {
  for (unsigned i = 0; i < out.size(); ++i) encode(items[i], out[i]);
}

template <class List, class Item>
Status decode_all(List in, std::vector<Item>& out) {
  out.reserve(in.size());
  for (const auto item : in)
    if (Status status = decode(item, out.emplace_back()); !status.ok()) return status;
  return {};
}

}  // namespace

void encode(const PartPlan& plan, schema::PartPlan::Builder out) {
  out.setId(plan.id);
  out.setProgram(plan.program);
  out.setIsland(plan.island);
  encode_all(plan.groups, out.initGroups(count(plan.groups.size())));
  encode_all(plan.values, out.initValues(count(plan.values.size())));
  encode_all(plan.gangs, out.initGangs(count(plan.gangs.size())));
  encode_all(plan.receives, out.initReceives(count(plan.receives.size())));
  encode_all(plan.sends, out.initSends(count(plan.sends.size())));
  encode_all(plan.args, out.initArgs(count(plan.args.size())));
  encode_all(plan.outputs, out.initOutputs(count(plan.outputs.size())));
  encode_all(plan.blocks, out.initBlocks(count(plan.blocks.size())));
  out.setSendBytes(plan.send_bytes);
  fill(plan.sites, out.initSites(count(plan.sites.size())));
  fill(plan.site_of_gang, out.initSiteOfGang(count(plan.site_of_gang.size())));
}

Status decode(schema::PartPlan::Reader in, PartPlan& plan) {
  plan.id = in.getId();
  plan.program = in.getProgram();
  plan.island = in.getIsland();
  if (Status status = decode_all(in.getGroups(), plan.groups); !status.ok()) return status;
  if (Status status = decode_all(in.getValues(), plan.values); !status.ok()) return status;
  if (Status status = decode_all(in.getGangs(), plan.gangs); !status.ok()) return status;
  if (Status status = decode_all(in.getReceives(), plan.receives); !status.ok()) return status;
  if (Status status = decode_all(in.getSends(), plan.sends); !status.ok()) return status;
  if (Status status = decode_all(in.getArgs(), plan.args); !status.ok()) return status;
  if (Status status = decode_all(in.getOutputs(), plan.outputs); !status.ok()) return status;
  if (Status status = decode_all(in.getBlocks(), plan.blocks); !status.ok()) return status;
  plan.send_bytes = in.getSendBytes();
  for (const auto site : in.getSites()) {
    plan.sites.emplace_back();
    if (Status status = read_name(site, "a line of user code", plan.sites.back()); !status.ok()) {
      return status;
    }
  }
  read_numbers(in.getSiteOfGang(), plan.site_of_gang);
  return validate(plan);
}

}  // namespace seaway::program
