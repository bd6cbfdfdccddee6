@0xf5b2903ec71d84a6;
# What philosophers say to their forks, and what they tell of their dinner.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::philosophers");

# Get to know the philosophers.
struct Lay {}

# Answered with Taken when the fork is free, in the order of asking.
struct Take {
  incarnation @0 :UInt32;  # Which life of the philosopher asks.
}

struct Taken {}

struct Put {
  incarnation @0 :UInt32;
}

struct Dine {
  meals @0 :UInt32;
  # That one falls asleep over that meal, with both forks in its hands.
  sleeper @1 :UInt32;
  sleepsAt @2 :UInt32;  # 0: nobody does.
}

struct Bite {
  meal @0 :UInt32;
  isAsleep @1 :Bool;
}
