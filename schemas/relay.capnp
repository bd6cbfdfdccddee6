@0x9d41f7c3a86e52b0;
# Delegates: what a host's process and a client's say to each other about the session in which the
# client's actors work there, and about arrays that several processes hold.
#
# To the controller and to all other hosts a client is one: what a delegate has to say, it says to the
# client's process, which says it in the client's own order; what comes back for it is handed on. These
# words travel between those two processes alone, on a channel of their own, in order.
#
# Who chooses which id (src/client/id_blocks.hpp): a delegate its runs, arrays and the like, from a
# block that is its own by the number and the life of its process, then from blocks that the client
# leases to it. The controller wants the runs of a client in rising order: so the client gives each run
# of a delegate's a number of its own, and gives the delegate's back with its outcome.
#
# Causes: a delegate may name an array before the client has heard of the run that makes it, from
# another delegate. An array that travels says how many words its maker had said until then; who has
# imported it says so with his own next words, and the client holds these back until it has had those.
#
# References: each array that a delegate makes or imports counts once for its process until `drops`
# name it as often. One on its way counts as a grant, which its sender says before the message leaves,
# until the receiver says that he has imported it. When nothing counts any more the client lets the
# array go. What a process that is lost held counts until all other hosts have said that nothing
# more comes from it (`gone`).

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::schema");

# One life of a process, by the number of its silo (app.capnp).
struct ProcessLife {
  silo @0 :UInt32;
  life @1 :UInt32;
}

# Outputs of one run, or one upload (then `run` and `first` are the same).
struct MadeArrays {
  run @0 :UInt64;
  first @1 :UInt64;
  count @2 :UInt32;
}

struct ArrayImport {
  array @0 :UInt64;
  from @1 :ProcessLife;
  number @2 :UInt64;  # Of the sender's grant.
  maker @3 :ProcessLife;
  said @4 :UInt64;    # What the maker had said before it was sent; 0: nothing to wait for.
}

struct ArrayGrant {
  array @0 :UInt64;
  to @1 :ProcessLife;
  number @2 :UInt64;  # Rises with each grant of this process.
}

# What has the run of this array come to?
struct ArrayAsk {
  request @0 :UInt64;
  run @1 :UInt64;
  array @2 :UInt64;
}

# From a delegate to its client. A frame is one of seaway.capnp, as a client says it to the controller.
struct DelegateWords {
  number @0 :UInt64;  # From 1, without gaps; 0: of a process without a delegate, `gone` alone.
  made @1 :List(MadeArrays);
  frame @2 :Data;     # Empty: none.
  imports @3 :List(ArrayImport);
  grants @4 :List(ArrayGrant);
  drops @5 :List(UInt64);
  asks @6 :List(ArrayAsk);
  wantsIds @7 :Bool;
  gone @8 :List(ProcessLife);  # Nothing more comes from these.
}

struct ArrayOutcome {
  request @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
}

# From a client to a delegate, or to the process in which one might be.
struct ClientWords {
  lease @0 :UInt64;  # The first of so many ids: a sequence; 0: none.
  outcomes @1 :List(ArrayOutcome);
  areGone @2 :List(ProcessLife);  # Say when nothing more comes from these.
  endCode @3 :UInt8;              # Not OK: the client works with this delegate no more.
  endMessage @4 :Text;
}

# An array beside a message between two processes.
struct TravellingArray {
  client @0 :UInt32;  # Whose it is; 0: the handle is empty, and nothing else is said.
  id @1 :UInt64;      # 0: it was refused, or is gone, and `code` says why.
  run @2 :UInt64;
  spec @3 :Data;      # An ArraySpec (program.capnp) as a message of its own.
  isKnown @4 :Bool;   # What has become of it is `code` and `message`.
  code @5 :UInt8;
  message @6 :Text;
  from @7 :ProcessLife;
  number @8 :UInt64;
  maker @9 :ProcessLife;
  said @10 :UInt64;
}
