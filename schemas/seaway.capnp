@0xb6f1d2a90c5e4471;
# Every message between the roles of a cluster, and the rules of their conversations.
#
# One frame holds one Message. Records that are ready together for one receiver share a frame: a
# role gathers what it has to say while its mailbox is not empty and sends it when it is. Frames
# between one pair of roles arrive in the order in which they were sent; nothing else is ordered.
#
# Who chooses an id: clients choose the ids of slices, functions, programs, runs and arrays (their
# client number stands in the upper 24 bits), so that no call has to wait for a reply. The controller
# chooses stamps (one rising sequence), plans (one lowering of a program segment for one island) and
# the arrays between segments. No id is ever used again.
#
# The conversations:
#  - run: client `runs` -> controller; `launches` to each island it touches and, the same frame, to
#    the island's host; scheduler `orders` -> host; host `dones` -> scheduler; scheduler `finished`
#    -> controller; controller `resolved` -> client. Exactly one `resolved` for each run.
#  - edge between islands: the receiving host says `armed` once it owns room, or `declined` when
#    the part was cancelled before that: exactly one of the two for each edge. For each `armed` the
#    sender answers exactly one `delivered`, which carries the value or poison; for each `delivered`
#    the receiver answers one `consumed`. Payload itself goes through the bulk channel.
#  - shares: the controller says each scheduler and host the weight of a tenant before the tenant's first launch
#    there, and again whenever it changes; a tenant of which nothing was said has weight 1. Runs that
#    are launched already share by the new weight, too.
#  - arrays: `puts` name an uploaded array before any run that reads it; `releases` drop the
#    client's handle; `fetches` ask for a value, which the host writes straight into the client's
#    buffer and confirms with one `fetched`, also when it is an error.
#  - cancel: the scheduler passes the frame with `cancels` on to its host, ahead of the `cancel` orders
#    that follow from it, so that what becomes poison there names the cause. To each `cancel` order of
#    a scheduler the host answers one `fenced`, at once if the part has no edges open, else when the
#    last of them is closed.
#  - failure: the host reports a failed gang inside `dones`; the scheduler passes it on in
#    `finished` with `done` = false as soon as it hears of it; the controller sends `cancels` to
#    every island of the run. `finished` with `done` = true still follows once for each part.
#  - lost device: the host of a device that runs nothing any more, and whose memory is gone, says
#    `deviceLost` to the controller; a repeat means nothing. Gangs that need it fail when their turn
#    comes, as gangs whose function fails (`dones`, `finished`, `cancels`), and arrays that lay there
#    are poison on their host: the controller hears of each when somebody reads it. It binds no slice
#    to the device any more. A slice that lies on it is bound anew, as soon as nothing of it is in
#    flight, to devices that are there; where there are none, its runs end with DEVICE_LOST. Words
#    that crossed (launches, puts) are followed as any others, and fail where they need the device.
#  - end of definitions: a client's `forget` record follows all that names the function, program or
#    spec. The controller forgets it when no unfinished run, live array or other definition needs it.
#    `forget` names it behind all else about it, and clients and plans likewise. `free`s of arrays and
#    edges of cancelled parts may be under way: a host keeps a plan until its last part is over.
#  - requests with a reply (acquire, release, why, stats ...) carry a request number of the
#    client's; there is exactly one `reply` to each.

# Where roles are processes of their own (src/cluster/README.md), these come on top:
#  - views: what an island's scheduler and host agree on is a view of the island, with a rising number
#    that the controller gives. A new one begins whenever either of them has begun a new life, or the
#    two have lost what one of them said. The controller says `view` to both (to the host before the
#    first launch of a new life, too); the host answers with `islandState` to the scheduler, which
#    forgets everything and begins anew with that and with what its own `view` says: all unfinished
#    parts in stamp order, with the plans that they name. `orders` and `dones` carry their view, and
#    are ignored in another one.
#  - turns: what the controller says to a host directly may be overtaken by what it says to the host's
#    scheduler and the scheduler to the host. So each time when it speaks to an island is numbered, and a
#    host follows no order before it has heard all that was said up to the turn that the order names.
#  - joining: the first word of each life of a scheduler or a host to the controller is `join`.
#  - lost values: after `cutEdges` all open edges between the two hosts of parts up to a stamp are over,
#    on both sides, as if each sender had said that its value is poison and each receiver that it
#    wants none. What comes about them later is ignored.
#  - complaints: a role that can no longer talk to another one, though both live, says `complaint` to the
#    controller, which begins a new view (scheduler and host), or cuts the edges (host and host), or
#    gives up what the client waits for from that host (client and host).
#  - payload: bytes travel as `bulk`, ahead of the word that announces them and the same way. An
#    upload stays with its client until the host says `pull`, as a put may reach any host; the host then
#    says `arrived` to the controller, which stamps no run that reads it before.
#  - large payload of clients: `bulk` says only how many bytes there are, and who hears it fetches them
#    over a connection for data, which hosts ask clients to make. `pull` and `fetch` say who can do so.
#    What a host offers stays until one `taken` for it, what a client does until the upload's outcome.
#  - `peer` is what the wiring says to a role of its own process: another process was lost, or is
#    there (again).

using Cxx = import "/capnp/c++.capnp";
using Annex = import "annex.capnp";
$Cxx.namespace("seaway::wire");

struct Message {
  union {
    # Client to controller.
    hello @0 :Hello;
    defineFunction @1 :DefineFunction;
    defineProgram @2 :DefineProgram;
    runs @3 :RunBatch;
    request @4 :Request;
    goodbye @5 :Void;
    # Controller to client.
    resolved @6 :List(Resolved);
    reply @7 :Reply;
    # Controller to islands and hosts; cancels to schedulers, who pass them on to their hosts.
    definePlan @8 :DefinePlan;
    compile @9 :DefineFunction;
    launches @10 :LaunchBatch;
    arrays @11 :List(ArrayRecord);
    cancels @12 :List(Cancel);
    # Host to controller.
    compiled @13 :Compiled;
    # Scheduler to host.
    orders @14 :List(Order);
    # Host to scheduler.
    dones @15 :DoneBatch;
    # Scheduler to scheduler.
    exists @16 :List(Exists);
    # Scheduler to controller.
    finished @17 :List(Finished);
    # Host to host.
    edges @18 :List(Edge);
    # Host to client.
    fetched @19 :List(Fetched);
    # An executor's worker thread or a timer to its own actor.
    kernelDone @20 :KernelDone;
    poke @21 :Void;
    # Anybody to a device.
    deviceCommand @22 :DeviceCommand;
    # Scheduler to controller: answer to a `why` that was passed on.
    whyAnswer @23 :WhyAnswer;
    whyQuestion @24 :WhyQuestion;
    # Controller to hosts: type and sharding that puts refer to.
    defineSpec @26 :DefineSpec;
    # Controller to schedulers.
    weights @27 :List(TenantWeight);
    # Controller to schedulers (about plans) and hosts.
    forget @28 :Forget;
    # Host to controller.
    deviceLost @29 :DeviceLost;
    # Schedulers and hosts to the controller.
    join @30 :Join;
    complaint @31 :Complaint;
    # Controller to scheduler and host of an island.
    view @32 :View;
    # Host to its scheduler.
    islandState @33 :IslandState;
    # Controller to hosts.
    cutEdges @34 :CutEdges;
    # Host to client.
    pull @35 :Pull;
    # Client to host, host to host, host to client.
    bulk @36 :Bulk;
    # Host to controller.
    arrived @37 :List(UInt64);
    # The wiring to a role of its own process.
    peer @38 :Peer;
    # Controller to schedulers, ahead of all that it says in one go, and to their hosts, behind it.
    # Rises over all lives of the controller.
    turn @40 :UInt64;
    # The first host of an island to its other hosts, and what they answer.
    annexOrders @42 :List(Annex.AnnexOrder);
    annexAnswers @43 :List(Annex.AnnexAnswer);
    # Any of them to any other.
    exchangeWords @44 :Annex.ExchangeWords;
    # Client to host: offers of values that it has, or does not want.
    taken @45 :List(Taken);
    # Host to client: the host of this number waits for a connection for data.
    callForData @46 :UInt32;
  }
  client @25 :UInt32;
  # The client that this message is from or about; 0 where that says nothing.
  inView @39 :UInt32;
  # Of orders and dones: the view of the island in which they are said. 0 where all roles are one
  # process, and no view ever ends.
  afterTurn @41 :UInt64;
  # Of orders and cancels to a host: the last turn of the controller that the scheduler has heard of.
}

struct Join {
  role @0 :UInt8;
  # actor::Role.
  island @1 :UInt32;
  epoch @2 :UInt32;  # Its life.
}

struct Complaint {
  role @0 :UInt8;
  index @1 :UInt32;  # About whom.
  epoch @2 :UInt32;  # Which life of it.
  byRole @3 :UInt8;
  byIndex @4 :UInt32;
}

struct View {
  number @0 :UInt32;
  # For hosts: what is older than the first stamp of its life concerns somebody who is gone.
  lastStamp @1 :UInt64;
  # For schedulers, who are told everything that is unfinished:
  launches @2 :LaunchBatch;
  plans @4 :List(UInt64);
  # Ids of all that launches may name, and no others. Each came before, in a DefinePlan.
  named @3 :List(UInt64);
  # Arrays that a client or a run may still name.
  life @5 :UInt32;
  # Of the host that it is for; 0: whichever hears it. Before the first one for its own life a host
  # begins nothing: the controller may not have heard yet that the life before is over.
}

# What a host knows that its scheduler has to know.
struct IslandState {
  number @0 :UInt32;
  lastStamp @1 :UInt64;  # The last launch that has reached the host.
  parts @2 :List(PartState);
  arrays @3 :List(ArrayState);
  failures @4 :List(Failure);  # Of parts that are over.
}
struct PartState {
  stamp @0 :UInt64;
  admitted @1 :Bool;
  overtook @2 :Bool;
  beside @9 :UInt64;
  # As the order of its admission said.
  cancelled @4 :Bool;
  fencing @10 :Bool;
  # Cancelled, and `fenced` has not been said.
  moving @11 :Bool;
  moved @3 :Bool;
  # Its sends were to go to host room, and have gone there.
  placed @5 :UInt32;
  # Gangs [0, placed) were placed, and these of them are done:
  done @6 :List(UInt32);
  # First and last of each range, behind one another.
  received @7 :List(UInt32);
  # Edges whose value is here.
  delivered @8 :List(UInt32);
  # Edges that are closed at this end, the sender's.
}
struct ArrayState {
  array @0 :UInt64;
  place @1 :Place;
  enum Place {
    nowhere @0;     # It has not been made, or is poison without room.
    device @1;
    uploadRoom @2;
    spillRoom @3;
  }
  poison @4 :Bool;
  devices @2 :List(UInt32);
  bytes @3 :UInt64;  # On each device.
}

struct CutEdges {
  peer @0 :UInt32;  # The other host.
  lastStamp @1 :UInt64;
  code @2 :UInt8;
  message @3 :Text;
}

struct Pull {
  array @0 :UInt64;
  host @1 :UInt32;
  fetches @2 :Bool;  # Large ones may be offered.
}

struct Bulk {
  kind @0 :Kind;
  enum Kind {
    upload @0;  # id = array
    edge @1;    # id = stamp, edge
    value @2;   # id = request: what a client has asked for, as one piece
  }
  id @1 :UInt64;
  edge @2 :UInt32;
  stride @3 :UInt64;
  data @4 :Data;
  streams @5 :UInt64;
  # So many bytes are to be fetched, by (id, 0) or, of a value from `host`, (id, edge); 0: `data` has them.
  host @6 :UInt32;
}

struct Taken {
  request @0 :UInt64;
  offer @1 :UInt32;
}

struct Peer {
  role @0 :UInt8;
  index @1 :UInt32;
  epoch @2 :UInt32;
  lost @3 :Bool;
  message @4 :Text;  # Why, if it was lost.
}

struct Hello {
  tenant @0 :Text;
  weight @1 :UInt32;
  # Share of the tenant in devices' time; the last client to say so wins. 0: leave it as it is.
  request @2 :UInt64;  # Its reply says the most live definitions, as a number.
  waitsWhenFull @3 :Bool;
  # A put over the quota waits for room until it is cancelled; else it is refused at once.
}

struct DefineFunction {
  id @0 :UInt64;
  name @1 :Text;
  graph @2 :Data;
  # A function.Graph (program.capnp) as a message of its own; empty for a native function.
  native @3 :Text;
  # The name under which every host has registered the native function; empty otherwise.
  axes @4 :List(Axis);
  # Mesh axes for which it was captured.
  info @5 :Data;
  # A FunctionInfo (program.capnp) as a message of its own: types, for the controller.
  foreign @6 :Data;
  # A ForeignProgram as a message of its own, in the place of `graph`; its types are known then when
  # it is compiled.
}

struct DefineProgram {
  id @0 :UInt64;
  graph @1 :List(Data);
  # A ProgramGraph (program.capnp) as a message of its own, in chunks of at most 1 MiB.
}

struct RunBatch {
  records @0 :List(ClientRecord);
  ids @1 :List(UInt64);
  # Argument ids of all runs of the batch, one after the other.
}

struct ClientRecord {
  # What a client says in order: runs, uploads, releases, fetches, cancels.
  kind @0 :Kind;
  enum Kind {
    run @0;      # id = run, object = program, first = first output id (the rest follow on)
    put @1;      # id = array, object = index of its ArraySpec registration; bytes follow by bulk
    release @2;  # id = array whose last handle is gone
    fetch @3;    # id = array, object = request; first = 1: again, as a host said that it is lost;
                 # first & 2: a large value may be offered
    cancel @4;   # id = run, or array whose put has waited for room long enough
    got @5;      # id = request: it has the value that it asked for; only where hosts may be lost
    forget @6;   # id = function, program or spec that the client names no more
  }
  id @1 :UInt64;
  object @2 :UInt64;
  first @3 :UInt64;
  argBegin @4 :UInt32;
  argCount @5 :UInt32;
}

struct Request {
  request @0 :UInt64;
  union {
    acquireSlice @1 :AcquireSlice;
    releaseSlice @2 :UInt64;
    rebindSlice @3 :UInt64;
    why @4 :UInt64;
    # Run or array id; 0: everything that waits.
    stats @5 :Void;
    defineSpec @6 :DefineSpec;
    # Type and sharding that later puts refer to; answered like every request, but puts do not wait.
    drain @7 :Void;
    # Answered when nothing of this client is in flight.
    defineForeign @8 :DefineFunction;
    # Answered with a ForeignCompiled, in `data`, when all hosts have compiled it.
  }
}

struct DefineSpec {
  id @0 :UInt64;  # Chosen by the client.
  spec @1 :Data;
  # An ArraySpec (program.capnp) as a message of its own.
}

struct AcquireSlice {
  id @0 :UInt64;
  devices @1 :UInt32;
  axes @2 :List(Axis);
  kind @3 :Text;
  island @4 :Int32;
  # -1: any.
  contiguous @5 :Bool;
  # Neighbouring devices. Not together with `spread`.
  spread @6 :Bool;
  # The least loaded devices, wherever they are on their island; so too when neither is said.
}
struct Axis {
  name @0 :Text;
  size @1 :Int64;
}

struct Reply {
  request @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
  # With code OK: the answer as text or JSON, by kind of request.
  data @3 :Data;
}

struct Resolved {
  # A run, or an array that is not made by a run (an upload): its outcome.
  id @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
}

struct DefinePlan {
  id @0 :UInt64;
  part @1 :Data;
  # A PartPlan (program.capnp) as a message of its own.
}

struct DeviceLost {
  island @0 :UInt32;
  device @1 :UInt32;
  message @2 :Text;
  # "device 1 of island 0 is lost: ", and why.
}

struct TenantWeight {
  tenant @0 :UInt32;
  weight @1 :UInt32;
  # Share of gang time, against those of the tenants that compete with it; at least 1.
}

struct Forget {
  clients @0 :List(UInt32);
  # Whose functions and specs go: all whose ids begin with the client's number.
  plans @1 :List(UInt64);
  definitions @2 :List(UInt64);  # Functions and specs.
}

struct LaunchBatch {
  records @0 :List(Launch);
  ids @1 :List(UInt64);
  # What would otherwise follow in frames of its own:
  fetches @2 :List(ArrayRecord);
  # For the host, behind all records.
  frees @3 :List(UInt64);
  # Arrays, for the scheduler; behind all records but for those that name a place among them.
  oldest @4 :UInt64;
  # Parts of smaller stamps are over, and the controller knows it. 0: says nothing.
}
struct Launch {
  # Prepare and Launch are one record: the scheduler reads its order, the host its arrays.
  stamp @0 :UInt64;
  run @1 :UInt64;
  plan @2 :UInt64;
  tenant @3 :UInt32;
  begin @4 :UInt32;
  # Index into `ids`: first the part's arguments, then its outputs, as many as the plan has.
  acknowledge @5 :Bool;
  # The host says `finished` with placed = true once all gangs of the part are enqueued.
  freesBefore @6 :UInt32;
  # So many of `frees` come before it.
}

struct ArrayRecord {
  kind @0 :Kind;
  enum Kind {
    put @0;    # to scheduler and host: an uploaded array (spec `object`) waits in upload room
    free @1;   # to scheduler: no handle and no unlaunched run names it any more
    fetch @2;  # to host: push the value to `client`, request `object`
    poison @3; # to host: a put that never arrived
  }
  array @1 :UInt64;
  object @2 :UInt64;
  client @3 :UInt32;
  tenant @4 :UInt32;
  bytes @5 :UInt64;
  # Put: bytes on each device.
  devices @6 :List(UInt32);
  streams @7 :Bool;
  # Fetch: a large value may be offered.
}

struct Cancel {
  stamp @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
}

struct Compiled {
  function @0 :UInt64;
  host @1 :UInt32;
  code @2 :UInt8;
  message @3 :Text;
  scratchBytes @4 :UInt64;
  costNs @5 :UInt64;
  inPlace @6 :List(InPlace);
  foreign @7 :Data;  # Of a foreign function: a ForeignCompiled.
}
struct InPlace {
  # Output `output` may be written over operand `operand` while the function runs.
  output @0 :UInt32;
  operand @1 :UInt32;
}

struct Order {
  kind @0 :UInt8;
  # island::Action::Kind: admit, place, free, spill, cancel, moveSends.
  # For admit: `first` is 1 for an overtaker, which went through a closed door beside the part
  # whose stamp is smaller by `last`; 0: it did not.
  first @1 :UInt32;
  last @2 :UInt32;
  id @3 :UInt64;
  # Stamp, or array for free and spill.
}

struct DoneBatch {
  records @0 :List(Done);
  failures @1 :List(Failure);
}
struct Done {
  kind @0 :Kind;
  enum Kind {
    gangs @0;     # gangs [first, last) of `id` (stamp) are done, or were no-ops
    received @1;  # send edge `first` of `id` (stamp) is with its receiver, or will never be needed
    spilled @2;   # array `id` is in host room
    moved @3;     # sends of `id` (stamp) are in host room
    fenced @4;    # after a cancel: no transfer touches the room of `id` (stamp) any more
  }
  id @1 :UInt64;
  first @2 :UInt32;
  last @3 :UInt32;
}
struct Failure {
  stamp @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
}

struct Exists {
  stamp @0 :UInt64;
  edge @1 :UInt32;
}

struct Finished {
  stamp @0 :UInt64;
  island @1 :UInt32;
  done @2 :Bool;
  # False: the part has failed, and its end follows.
  code @3 :UInt8;
  message @4 :Text;
  placed @5 :Bool;
  # With done = false, from the host: the part is enqueued (Launch.acknowledge asked for it).
}

struct Edge {
  kind @0 :Kind;
  enum Kind {
    armed @0;
    declined @1;
    delivered @2;
    consumed @3;
    returned @4;  # What was kept is not used any more.
  }
  stamp @1 :UInt64;
  edge @2 :UInt32;
  host @3 :UInt32;
  # The host that says it.
  code @4 :UInt8;
  # Delivered: OK, or poison with its cause.
  message @5 :Text;
  readsYou @6 :Bool;
  # Armed: whoever says it has the sender's memory before his eyes.
  # Delivered, to such a one: where the value lies there, until it is consumed. Turn 0: its bytes came
  # ahead of this word.
  loan :group {
    offset @7 :UInt64;
    bytes @8 :UInt64;
    stride @9 :UInt64;
    slot @10 :UInt32;
    turn @11 :UInt64;
  }
  keeps @12 :Bool;
  # Delivered, with a loan: it may be kept when it is consumed. Consumed: it is used where it lies, and
  # lent until it is returned.
  streams @13 :UInt64;
  # Delivered: so many bytes are to be fetched over a connection for data (data_header.hpp). 0: none.
}

struct Fetched {
  request @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
}

struct KernelDone {
  ticket @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
  beginNs @3 :UInt64;
  endNs @4 :UInt64;
}

struct DeviceCommand {
  union {
    drain @0 :Void;
    resume @1 :Void;
    report @2 :UInt64;
  }
}

struct WhyQuestion {
  request @0 :UInt64;
  stamp @1 :UInt64;  # 0: everything.
}
struct WhyAnswer {
  request @0 :UInt64;
  text @1 :Text;
  island @2 :UInt32;
}
