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

# What philosophers tell who looks on, and wait until it knows: a fork is in a hand, or is not any
# more.
struct Hold {
  fork @0 :UInt32;
  seat @1 :UInt32;
  incarnation @2 :UInt32;
  isTaken @3 :Bool;
}

# They eat.
struct Eat {
  seat @0 :UInt32;
}

# How does the table look? Answered a moment later, with a Picture.
struct Look {}

# Was all well, if each was to have so many meals? Answered with the last picture.
struct Judge {
  meals @0 :UInt32;
}

struct Picture {
  text @0 :Text;
}
