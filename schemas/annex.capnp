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
    run @4 :RunGang;
    forget @5 :UInt64;
    # A function.
    taken @6 :UInt64;
    # Of what was lent with answers so many have been copied, in all.
  }
}

struct MakeRoom {
  room @0 :UInt64;
  # Never used again.
  first @1 :UInt32;
  shards @2 :UInt32;
  # Of a value's shards these are there: as many, from this one.
  shardBytes @3 :UInt64;
  owner @4 :UInt32;
  # A tenant, by one more than its number: nothing of another one's is there. 0: all of it is written
  # before it is read.
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
  union {
    data @1 :Data;
    # One shard's bytes behind the other's.
    lent @2 :LentShards;
    # They lie in the memory of the first host, until the annex says that it has copied them.
  }
}

struct LentShards {
  # The same bytes of several shards.
  offset @0 :UInt64;
  bytes @1 :UInt64;
  slot @2 :UInt32;
  turn @3 :UInt64;
  # As in a loan.
  stride @4 :UInt64;
}

struct ReadRoom {
  ticket @0 :UInt64;
  range @1 :RoomRange;
  mayBeLent @2 :Bool;
  # Whoever asks reads the annex's memory, and lets nobody write there before he has.
}

struct RoomPlace {
  room @0 :UInt64;
  # 0: a value of no bytes.
  offset @1 :UInt64;
}

struct HostShards {
  # Of a gang's shards, [begin, end) are on a host of the island.
  host @0 :UInt32;
  begin @1 :UInt32;
  end @2 :UInt32;
}

struct RunGang {
  # On those of its shards that are there.
  ticket @0 :UInt64;
  function @1 :UInt64;
  gang @2 :UInt64;
  # Its number, the same on all hosts: the lower bits of the first one's life in the upper 24.
  conflict @3 :Bool;
  hosts @4 :List(HostShards);
  # All of them.
  operands @5 :List(RoomPlace);
  outputs @6 :List(RoomPlace);
  scratch @7 :RoomPlace;
  tenant @8 :UInt32;
  # Who pays: what the gang's hosts send each other goes in its name.
  reads @9 :List(ReadRoom);
  # At its end, of what it has made.
  behind @10 :UInt64;
  # Another gang: on each host this one begins when that one is over there. 0: at once.
}

struct AnnexAnswer {
  # To a read or a run; with ticket 0 to none.
  ticket @0 :UInt64;
  code @1 :UInt8;
  message @2 :Text;
  union {
    data @3 :Data;
    lent @4 :LentShards;
    # What was read lies in the annex's memory, until the first host says that it has copied it.
    news :group {
      taken @5 :UInt64;
      # Of what was lent with writes so many have been copied, in all.
      reads @6 :Bool;
      # The annex reads the memory of the first host.
      host @7 :UInt32;
      # Which annex.
    }
  }
}

struct ExchangeWords {
  # From one host of an island to another, while gangs exchange values.
  host @0 :UInt32;
  # Who says it.
  words @1 :List(ExchangeWord);
}

struct ExchangeWord {
  gang @0 :UInt64;
  stage @1 :UInt32;
  block @2 :UInt32;
  round @3 :UInt32;
  union {
    packed @4 :Data;
    # A message: its pieces, one behind the other.
    lent @5 :LentMessage;
    offered @6 :UInt64;
    # It can be fetched, by this number.
    taken @7 :Void;
    # What was lent or offered is there.
    unread @8 :Void;
    # What was lent cannot be read.
    failed @9 :FailedGang;
  }
}

struct LentMessage {
  offset @0 :UInt64;
  bytes @1 :UInt64;
  slot @2 :UInt32;
  turn @3 :UInt64;
  # As in a loan.
  pieces @4 :List(UInt64);
  # Where they begin, behind `offset`.
}

struct FailedGang {
  code @0 :UInt8;
  message @1 :Text;
}
