@0xd8f3a1c6b27e4905;
# Messages of the actors that the tests of the app room spawn.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::app_test");

struct Add {
  amount @0 :Int64;
}

struct Total {
  total @0 :Int64;
  name @1 :Text;
}

struct Ask {
  text @0 :Text;
  number @1 :UInt32;
}

struct Answer {
  text @0 :Text;
  number @1 :UInt32;
}

struct Hold {
  # To an actor that waits for something before it answers.
  text @0 :Text;
}

struct Open {
  # To a gate: whoever it holds is answered.
}

struct Held {
  # How many a gate holds, and how many of those have been given up.
}

struct Scan {
  # Numbers from 0, as a stream.
  count @0 :UInt32;
}

struct Log {
  # What an actor has written down.
}

struct Nothing {}
