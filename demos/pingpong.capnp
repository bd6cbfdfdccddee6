@0xb3c1f0a94d7e5612;
# What the players of the pingpong demo say to each other.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::pingpong");

# Hit the ball so many times and wait for each of its returns.
struct Play {
  rounds @0 :UInt64;
}

struct Score {
  returned @0 :UInt64;     # Balls that came back, each with its own number.
  nanoseconds @1 :UInt64;  # From the first hit to the last return.
}

struct Ball {
  number @0 :UInt64;
}
