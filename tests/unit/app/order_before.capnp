@0xb0f7d2c94a1e6835;
# What a peer of an older build knows of the messages in order_after.capnp: the same ids, less in them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::app_test::before");

struct Order @0xd2a4c7e19b3f5068 {
  item @0 :Text;
  count @1 :UInt32;
}

struct Invoice @0x9c3e5f7a1d2b4860 {
  price @0 :UInt64;
}
