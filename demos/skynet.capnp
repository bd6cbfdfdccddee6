@0xe81d4f6b20a97c35;
# What the actors of the skynet demo say to each other.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::skynet");

struct Count {}

struct Sum {
  sum @0 :UInt64;     # Of the numbers of all leaves below.
  actors @1 :UInt64;  # How many there are, the one that answers included.
}
