@0xe1b7a94c30d25f68;
# What the silos of users' actors say to each other: batches of envelopes, one frame a batch.
#
# A silo runs the members of one host; silo 0, the hub, runs the clients' ends of calls and knows
# the names of meshes. Host h has silo h + 1. Where clients are processes of their own, each has a
# silo behind those of the hosts, and the hub only knows the names. Between two silos batches arrive in the order of
# their sending, each at most once: whatever carries them drops a repeat, so a batch that comes twice
# never reaches a silo, and nothing in here has to be idempotent. What is lost with a host is lost
# for good: its peers are told that the host was lost, after all that came from it before, and each
# call that was under way there gets its one outcome from that word.
#
# Who chooses which id:
#   mesh      its owner's silo; a silo that starts anew never chooses one that it chose before.
#   call      the caller's silo, for one call with one outcome; 0: nobody waits for an answer. It
#             ends with the Reply (Stopped, Found), with a Cancel, or with either host. An id that
#             has ended is unknown to whoever hears of it, and ignored.
#   requestId the caller's silo, for a call that is made once however often it is sent: a member
#             that has answered the same id before answers the same again.
#   number    its meaning is the kind's: see the table in src/app/envelope.hpp.
#
# An Envelope of kind Argument is about a call of another silo than the one that sends it: `origin`
# says whose. In all other kinds the sender of the batch is meant, and `origin` is not read.
#
# Deadlines travel as the time that remains, for silos share no clock: 0 is none, and what is
# already late has 1 ns left. The same holds for the number of a Stop that lets a member finish.
#
# Payloads, meshes and types are named by their place in the lists of their batch, plus one; 0 is
# none. Consecutive envelopes that share a payload name the same place.
#
# Code never travels. What makes objects, and what combines answers, has a name, and its receiver
# has code by that name or refuses: the envelope alone, and whoever waits for it hears why. Of
# classes and of what is combined a fingerprint goes along: over the messages they take and give,
# not over their code. Within one process what has no name may go in a table beside the frame
# (`beside`, a number in it; 0: none); a receiver without such a table refuses the frame.
#
# Tenants: a mesh belongs to the tenant of the client at its root, and an envelope acts for the tenant of
# its sender. A silo treats a mesh of another tenant as one that does not exist. A receiver believes a
# host, and takes the tenant of a client from the client's pass; `tenant` in its envelopes is not read.
# src/app/client_envelopes.hpp lists what a client may send.
#
# Whoever reads a batch checks each number before use: a place that does not exist, an unknown kind
# or status, and an envelope without what its kind is about are PROTOCOL_ERRORs, and no envelope of
# such a batch is acted on.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::schema");

struct MemberName {
  mesh @0 :UInt64;
  index @1 :UInt32;
}

# A value, or why there is none: a payload's place, read only if `code` is 0.
struct Outcome {
  code @0 :UInt8;
  message @1 :Text;
  payload @2 :UInt32;
}

# Some members of a mesh, as a handle names them.
struct Reference {
  mesh @0 :UInt32;  # A place in the batch; 0: nobody.
  first @1 :UInt32;
  count @2 :UInt32;
  members @3 :List(UInt32);  # Null: first .. first + count - 1.
  axes @4 :List(ActorAxis);
}

struct Attachment {
  union {
    bytes @0 :Data;
    actors @1 :Reference;
    beside @2 :UInt64;
    # A TravellingArray (relay.capnp) as a message of its own.
    array @3 :Data;
  }
}

# One message of a user's, in Cap'n Proto's stream framing; no bytes at all is a message that was
# never made.
struct Payload {
  frame @0 :Data;
  attachments @1 :List(Attachment);
}

# A class of actors.
struct ActorType {
  fullName @0 :Text;
  name @1 :Text;
  id @2 :UInt64;
  fingerprint @3 :UInt64;
  mailboxMax @4 :UInt32;
  beside @5 :UInt64;
}

# What makes members: arguments of a constructor (include/seaway/app/arguments.hpp).
struct Factory {
  beside @0 :UInt64;  # 0: what follows.
  signature @1 :Text;
  arguments @2 :Data;
  attachments @3 :List(Attachment);
}

struct Combine {
  beside @0 :UInt64;  # 0: what follows.
  name @1 :Text;
  fingerprint @2 :UInt64;
}

struct ActorAxis {
  name @0 :Text;
  size @1 :UInt32;
}

# A mesh as handles know it; the same to everybody, for as long as anybody names it.
struct ActorMesh {
  id @0 :UInt64;
  type @1 :UInt32;  # A place in the batch.
  axes @2 :List(ActorAxis);
  hosts @3 :List(UInt32);
  ownerSilo @4 :UInt32;
  owner @5 :MemberName;
  client @6 :UInt32;
  tenant @7 :UInt64;
}

# What a member answered to a request that may be sent again.
struct Answered {
  requestId @0 :UInt64;
  outcome @1 :Outcome;
}

struct Snapshot {
  state @0 :UInt32;  # A payload's place.
  answered @1 :List(Answered);
}

# A member to be made, or that was made: then `code` says whether it lives.
struct Start {
  index @0 :UInt32;
  incarnation @1 :UInt32;
  snapshot @2 :Snapshot;  # Null: it begins with nothing.
  snapshotNumber @3 :UInt64;
  code @4 :UInt8;
  message @5 :Text;
}

struct Death {
  member @0 :MemberName;
  name @1 :Text;
  code @2 :UInt8;
  message @3 :Text;
  incarnation @4 :UInt32;
  restarts @5 :Bool;
  isEscalated @6 :Bool;
}

# What only some kinds need.
struct Parcel {
  mesh @0 :UInt32;      # A place in the batch.
  factory @1 :Factory;  # Null: none, as of `combine`.
  starts @2 :List(Start);
  members @3 :List(UInt32);
  name @4 :Text;
  death @5 :Death;  # Null: none.
  combine @6 :Combine;
  children @7 :List(UInt32);
  parent @8 :UInt32;
  isRoot @9 :Bool;
}

struct Envelope {
  kind @0 :UInt8;  # The numbers of the C++ enum.
  awaitsArgument @1 :Bool;
  isStream @2 :Bool;
  isOnce @3 :Bool;
  code @4 :UInt8;
  payload @5 :UInt32;
  member @6 :MemberName;
  sender @7 :MemberName;
  call @8 :UInt64;
  requestType @9 :UInt64;
  replyType @10 :UInt64;
  remainingNs @11 :UInt64;
  number @12 :UInt64;
  requestId @13 :UInt64;
  message @14 :Text;  # Of a status that is not OK.
  parcel @15 :Parcel;  # Null: none.
  origin @16 :UInt32;
  epoch @17 :UInt32;  # Which life of the third silo is meant that a Forward or a Combine names.
  tenant @18 :UInt64;
}

# The hub to a client: another client is there, or is lost (epoch 0).
struct SiloNews {
  silo @0 :UInt32;
  epoch @1 :UInt32;
}

struct EnvelopeBatch {
  from @0 :UInt32;
  envelopes @1 :List(Envelope);
  payloads @2 :List(Payload);
  meshes @3 :List(ActorMesh);
  types @4 :List(ActorType);
  news @5 :List(SiloNews);
}
