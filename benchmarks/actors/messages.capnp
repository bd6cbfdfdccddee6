@0xb1c7d92e60a3f584;
# What the actors of the benchmark send each other: about what a command of a runtime holds.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::benchmarks");

struct Command {
  number @0 :UInt64;
  node @1 :UInt32;
  shards @2 :UInt32;
  bytes @3 :UInt64;
  stamp @4 :UInt64;
  inputs @5 :List(UInt64);
  outputs @6 :List(UInt64);
}

struct Done {
  number @0 :UInt64;
}

struct Go {
  count @0 :UInt32;
  kind @1 :UInt32;
}

struct Ready {}

struct Seconds {
  nanoseconds @0 :Float64;
}
