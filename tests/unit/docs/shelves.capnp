@0xb2ae1219a03bf209;
# The messages of the app that docs/build-an-app.md builds.

# [schema]
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("shelves");

struct Put {  # So many more.
  amount @0 :UInt32;
}

struct Take {  # So many, as soon as there are so many.
  amount @0 :UInt32;
}

struct Look {}

struct Level {  # So many lie there.
  amount @0 :UInt32;
  shelf @1 :Text;
}
# [/schema]

struct SellOff {}

struct Sell {
  amount @0 :UInt32;
}

struct Receipt {
  text @0 :Text;
}

struct Open {
  shelves @0 :UInt32;
}

struct Drop {
  # Lets one fall.
}

struct Report {}

struct Pay {
  cents @0 :UInt64;
}

struct Balance {
  cents @0 :UInt64;
}

struct Picture {
  bytes @0 :UInt32;  # Number of the attachment.
}

struct Pixels {
  count @0 :UInt32;
}

struct Restock {
  from @0 :UInt32;  # Number of the attachment: a shelf.
  amount @1 :UInt32;
}

struct Everywhere {
  shelves @0 :UInt32;  # Number of the attachment: several shelves.
}

struct Numbers {
  array @0 :UInt32;  # Number of the attachment.
}

struct Weights {
  grams @0 :List(Float32);
}

struct Nap {
  minutes @0 :UInt32;
}

struct Ring {
  # Asks the other one, which asks back.
  hops @0 :UInt32;
}

struct Hello {}
