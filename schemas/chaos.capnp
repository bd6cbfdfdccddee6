@0xa7c2f4e6913b80d5;
# What actors of the random worlds of `seaway chaos --apps` say to each other.
#
# Each request carries the number under which the world's ledger knows it; the ledger chooses it, in
# the order of asking, and it is never used again. A request that is sent again keeps its number. An
# answer's value is a function of the number and of who answers, so that nobody's answer is taken for
# another's. An answer may be the request of the next call of a chain.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::schema::chaos");

# Answered at once.
struct Plain {
  number @0 :UInt64;
}
# Answered after `amount` ns; Poll lets others begin meanwhile.
struct Slow {
  number @0 :UInt64;
  amount @1 :UInt64;
}
struct Poll {
  number @0 :UInt64;
  amount @1 :UInt64;
}
# Answered when another actor has answered.
struct Relay {
  number @0 :UInt64;
  amount @1 :UInt64;
}
# Answered when children were spawned and have answered.
struct Nest {
  number @0 :UInt64;
  amount @1 :UInt64;
}
# Answered `amount` times.
struct Feed {
  number @0 :UInt64;
  amount @1 :UInt64;
}
# Answered through a promise; not, if `amount` is 0.
struct Later {
  number @0 :UInt64;
  amount @1 :UInt64;
}
# Answered when the actor that travels beside it has answered.
struct Meet {
  number @0 :UInt64;
  beside @1 :UInt32;
}
# The mesh that travels beside it is watched from now on.
struct Watch {
  number @0 :UInt64;
  beside @1 :UInt32;
}
# The actor throws.
struct Crash {
  number @0 :UInt64;
}
# Kept in the actor's state, which outlives it.
struct Deposit {
  number @0 :UInt64;
}
# Answered with all deposits.
struct Audit {
  number @0 :UInt64;
}

struct Told {
  number @0 :UInt64;
  value @1 :UInt64;
  index @2 :UInt32;
  incarnation @3 :UInt32;
}

struct Deposits {
  number @0 :UInt64;
  numbers @1 :List(UInt64);
}

# What the actors say that share arrays, in worlds of processes. Every array has one value in each
# place, which goes beside it wherever it goes.
struct MakeOne {
  # Twice of it.
  value @0 :Int64;
}
struct Share {
  value @0 :Int64;
  # The array that is beside is used, and what comes out of it given back; otherwise itself.
  isUsed @1 :Bool;
}
struct Pass {
  # To the actor that is beside.
  isUsed @0 :Bool;
}
struct Look {
}
struct Forget {
}
struct Shared {
  # Of the array that is beside, or that was looked at: what it has to be, and what it is.
  value @0 :Int64;
  seen @1 :Int64;
}
