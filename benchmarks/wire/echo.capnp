@0xd4a7b0f2c1936e58;
# What a caller of Cap'n Proto's own RPC is answered.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::benchmarks");

interface Echo {
  echo @0 (payload :Data) -> (payload :Data);
}
