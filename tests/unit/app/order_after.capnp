@0x8e1d6b3fa7c05294;
# Messages whose older versions are in order_before.capnp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::app_test::after");

struct Order @0xd2a4c7e19b3f5068 {
  item @0 :Text;
  count @1 :UInt32;
  discount @2 :UInt32 = 10;  # In percent.
  note @3 :Text = "no note";
  sizes @4 :List(UInt32);
}

struct Invoice @0x9c3e5f7a1d2b4860 {
  price @0 :UInt64;
  currency @1 :Text = "EUR";
}

# New.
struct Refund @0xf61b8d04c2e9a375 {
  price @0 :UInt64;
}
