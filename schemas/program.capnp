@0xd8a37c1be25f4096;
# Programs and what they are made of, as they cross from process to process.
#
# All of it is values: whoever receives one may keep it, and a repeat means the same thing again.
# Ids are chosen by clients (functions, programs, slices) or by the controller (plans); this file
# gives them no meaning of its own. The client registers a FunctionGraph and its FunctionInfo once,
# then a ProgramGraph that names functions by id; the controller lowers it and hands each island
# its PartPlan. Whoever reads a stranger's bytes checks every index and every enum before use: an
# unknown one is a PROTOCOL_ERROR, a program that does not fit together an INVALID_ARGUMENT.
#
# "No such index" is 0xffffffff throughout. Enums are bytes with the numbers of the C++ enums.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::schema");

struct TensorType {
  dtype @0 :UInt8;
  shape @1 :List(Int64);
}

struct MeshAxis {
  name @0 :Text;
  size @1 :Int64;
}

struct Mesh {
  slice @0 :UInt64;
  axes @1 :List(MeshAxis);
  devices @2 :List(UInt32);
  # Of a sub-mesh, by their numbers in the slice, each once; empty: all of them, in order.
}

# For each dimension the axes that split it, major first.
struct PartitionSpec {
  dims @0 :List(List(Text));
}

struct ArraySpec {
  type @0 :TensorType;
  mesh @1 :Mesh;
  spec @2 :PartitionSpec;
}

# One operation of a tensor function. Fields that an operation does not use stay empty.
struct Instruction {
  op @0 :UInt8;
  compare @1 :UInt8;
  reduce @2 :UInt8;
  type @3 :TensorType;
  operands @4 :List(UInt32);
  dims @5 :List(Int64);
  starts @6 :List(Int64);
  limits @7 :List(Int64);
  strides @8 :List(Int64);
  lhsBatch @9 :List(Int64);
  rhsBatch @10 :List(Int64);
  lhsContract @11 :List(Int64);
  rhsContract @12 :List(Int64);
  number @13 :Float64;
  axis @14 :Text;
  # Source and target of each pair behind one another.
  pairs @15 :List(Int64);
  parameter @16 :UInt32;
}

struct FunctionGraph {
  name @0 :Text;
  instructions @1 :List(Instruction);
  parameters @2 :List(UInt32);
  outputs @3 :List(UInt32);
}

struct FunctionInfo {
  id @0 :UInt64;
  name @1 :Text;
  parameters @2 :List(TensorType);
  outputs @3 :List(TensorType);
  axes @4 :List(MeshAxis);
  scratchBytes @5 :UInt64;
  costNs @6 :UInt64;
  idempotent @7 :Bool;
  irregular @8 :Bool;
  inPlace @9 :List(InPlace);
  shards @10 :UInt32;
  # Of a foreign function over several devices: the types are those of its shards, one shard's behind
  # the other's, and each value lies on the device of its shard alone. 0: they are any shard's.
  donated @11 :List(UInt32);
  # Parameters whose memory its outputs may take.
}

# A program that Seaway does not read, but the compiler of a device.
struct ForeignProgram {
  format @0 :Text;
  code @1 :Data;
  options @2 :Data;
  # The compiler's.
  shards @3 :UInt32;
}

# What became of it.
struct ForeignCompiled {
  info @0 :FunctionInfo;
  format @1 :Text;
  description @2 :Data;
  # The compiled program in a format of the compiler's; nothing when it is too large.
}

# Output `output` may be written over operand `operand`.
struct InPlace {
  output @0 :UInt32;
  operand @1 :UInt32;
}

# Result `output` of node `node`; a parameter of the program when `node` is 0xffffffff.
struct ValueRef {
  node @0 :UInt32;
  output @1 :UInt32;
}

# Meshes and specs are indices into the lists of the program: a program names the same few again
# and again.
struct NodeOutput {
  type @0 :TensorType;
  spec @1 :UInt32;
  place @2 :UInt32;
  # It lies on device place - 1 of the node's mesh alone; 0: on all of it.
}

struct Node {
  function @0 :UInt64;
  mesh @1 :UInt32;
  operands @2 :List(ValueRef);
  inSpecs @3 :List(UInt32);
  # They lie on the node's own mesh.
  outputs @4 :List(NodeOutput);
  site @5 :Text;
}

struct ProgramGraph {
  id @0 :UInt64;
  name @1 :Text;
  dispatch @2 :UInt8;
  parameters @3 :List(ArraySpec);
  donated @4 :List(Bool);
  nodes @5 :List(Node);
  outputs @6 :List(ValueRef);
  meshes @7 :List(Mesh);
  specs @8 :List(PartitionSpec);
}

struct DeviceGroup {
  devices @0 :List(UInt32);
  axes @1 :List(MeshAxis);
}

struct Value {
  place @0 :UInt8;
  index @1 :UInt32;
  group @2 :UInt32;
  offset @3 :UInt64;
  shardBytes @4 :UInt64;
  type @5 :TensorType;
  spec @6 :PartitionSpec;
}

struct Gang {
  kind @0 :UInt8;
  position @1 :UInt32;
  node @2 :UInt32;
  function @3 :UInt64;
  group @4 :UInt32;
  sourceGroup @5 :UInt32;
  operands @6 :List(UInt32);
  results @7 :List(UInt32);
  scratchOffset @8 :UInt64;
  costNs @9 :UInt64;
}

# Sender and receiver number an edge alike; each edge has exactly one of both.
struct Receive {
  edge @0 :UInt32;
  peer @1 :UInt32;
  value @2 :UInt32;
  firstGang @3 :UInt32;
  sourceGroup @4 :DeviceGroup;
  sourceSpec @5 :PartitionSpec;
}

struct Send {
  edge @0 :UInt32;
  peer @1 :UInt32;
  value @2 :UInt32;
  gang @3 :UInt32;
  targetGroup @4 :DeviceGroup;
  targetSpec @5 :PartitionSpec;
}

struct Arg {
  parameter @0 :UInt32;
  value @1 :UInt32;
  lastGang @2 :UInt32;
  donatedTo @3 :UInt32;
  donated @4 :Bool;
}

struct Output {
  output @0 :UInt32;
  value @1 :UInt32;
  gang @2 :UInt32;
}

struct BlockStep {
  gang @0 :UInt32;
  bytes @1 :UInt64;
}

struct Block {
  group @0 :UInt32;
  steps @1 :List(BlockStep);
}

struct PartPlan {
  id @0 :UInt64;
  program @1 :UInt64;
  island @2 :UInt32;
  groups @3 :List(DeviceGroup);
  values @4 :List(Value);
  gangs @5 :List(Gang);
  receives @6 :List(Receive);
  sends @7 :List(Send);
  args @8 :List(Arg);
  outputs @9 :List(Output);
  blocks @10 :List(Block);
  sendBytes @11 :UInt64;
  sites @12 :List(Text);
  # Lines of user code, each once.
  siteOfGang @13 :List(UInt32);
  # For each gang the index of its line in `sites`; beyond the end: none. For messages only.
}
