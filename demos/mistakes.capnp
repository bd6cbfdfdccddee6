@0xe2a4d71c9b3f6058;
# Messages of the demos with a mistake in them: lost_write and transfer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::mistakes");

struct Put {
  key @0 :UInt32;
  value @1 :Int64;
}

# What is stored under the key: 0 when nothing is.
struct Get {
  key @0 :UInt32;
}

struct Value {
  value @0 :Int64;
}

struct All {}

struct Entries {
  entries @0 :List(Put);
}

# So much more on an account; less than 0: so much less.
struct Move {
  amount @0 :Int64;
}

struct Balance {
  amount @0 :Int64;
}
