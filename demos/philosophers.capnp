@0xf5b2903ec71d84a6;
# What philosophers say to their forks, and what they are told to do.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::philosophers");

# Answered with Taken when the fork is free, in the order of asking.
struct Take {
  incarnation @0 :UInt32;  # Which life of the philosopher asks.
}

struct Taken {}

struct Put {
  incarnation @0 :UInt32;
}

# Answered after so many meals.
struct Dine {
  meals @0 :UInt32;
}
