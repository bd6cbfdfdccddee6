@0x992376df953a91c5;
# What the host of an island says to its other hosts, its annexes, and what they answer. All of it goes
# one way, on one lane, and is followed in order: see src/device/annexes.hpp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::wire");

struct AnnexOrder {
  # Followed as they come, each before the next.
  union {
    make @0 :MakeRoom;
    drop @1 :UInt64;
    # A room.
    write @2 :WriteRoom;
    read @3 :ReadRoom;
    run @4 :RunStage;
    forget @5 :UInt64;
    # A function.
  }
}

struct MakeRoom {
  room @0 :UInt64;
  # Never used again.
  first @1 :UInt32;
  shards @2 :UInt32;
  # Of a value's shards these are there: as many, from this one.
  shardBytes @3 :UInt64;
}

struct RoomRange {
  # Of some shards the same bytes of each.
  room @0 :UInt64;
  first @1 :UInt32;
  shards @2 :UInt32;
  offset @3 :UInt64;
  bytes @4 :UInt64;
}

struct WriteRoom {
  range @0 :RoomRange;
  data @1 :Data;
  # One shard's bytes behind the other's.
}

struct ReadRoom {
  ticket @0 :UInt64;
  range @1 :RoomRange;
}

struct RoomPlace {
  room @0 :UInt64;
  # 0: a value of no bytes.
  offset @1 :UInt64;
}

struct RunStage {
  # One stage of a gang on shards [first, end) of `count`.
  ticket @0 :UInt64;
  function @1 :UInt64;
  stage @2 :UInt32;
  conflict @3 :Bool;
  first @4 :UInt32;
  end @5 :UInt32;
  count @6 :UInt32;
  operands @7 :List(RoomPlace);
  outputs @8 :List(RoomPlace);
  scratch @9 :RoomPlace;
  costNs @10 :UInt64;
  # Of each shard, as estimated.
}

struct AnnexAnswer {
  # To a read or a run.
  ticket @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
  data @3 :Data;
}
