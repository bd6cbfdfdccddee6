@0xc2b8e60f7a914d35;
# What processes ask the controller's process about the cluster itself, on connections of their own
# (schemas/wires.capnp, `ask`): one Question, one Answer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::wire");

# A native function: its name, and a fingerprint over that, its types and what it says of itself.
struct Native {
  name @0 :Text;
  fingerprint @1 :UInt64;
}

enum Drain {
  ended @0;        # It is drained no more.
  untilEnded @1;   # Whoever plays its host.
  untilJoined @2;  # Its host is about to leave; the next one is for use.
}

struct Question {
  union {
    # I begin a life as this role; a client is given its number.
    enrol :group {
      role @0 :UInt8;
      index @1 :UInt32;
      tenant @25 :Text;  # That a client wants to work for; empty: the one of what it shows.
    }
    # The life that began listens here; of a host, what its program has registered.
    announce :group {
      process @2 :UInt32;
      life @3 :UInt32;
      address @4 :Text;
      natives @10 :List(Native);
    }
    # Where does that process listen?
    find @5 :UInt32;
    # What is there, as JSON.
    status @6 :Void;
    # End, and everybody with you.
    stop @7 :Void;
    # Why has this run no outcome yet? 0: all that have none, and what the cluster waits for.
    why @8 :UInt64;
    # Do all hosts that are there know this function, as it is here?
    native @9 :Native;
    # Of a worker: these clients talk with me. Which of them are not welcome any more?
    vouch @11 :List(UInt32);
    # Nothing new is to come to this island, and what is there is to leave it; answered by what is left.
    drain :group {
      island @12 :UInt32;
      how @13 :Drain;
    }
    # Of a host, to another one of its machine in its life `ofLife`: hand me your memory over, to be read
    # (src/transport/near_memory.hpp). It shows the pass that it shows to whom it talks with.
    memory :group {
      process @14 :UInt32;
      life @15 :UInt32;
      ofLife @16 :UInt32;
      pass @17 :Data;
    }
    # Of a client, to a host of its machine, with the descriptor of a file: the array whose bytes you
    # have asked me for lies there (src/transport/file_view.hpp).
    file :group {
      process @18 :UInt32;
      life @19 :UInt32;
      pass @20 :Data;
      array @21 :UInt64;
      offset @22 :UInt64;
      bytes @23 :UInt64;
      stride @24 :UInt64;
      # From one shard to the next.
    }
  }
}

struct Answer {
  union {
    enrolled :group {
      process @0 :UInt32;
      index @1 :UInt32;
      life @2 :UInt32;
      cluster @3 :UInt64;
      # "embedded:islands=2,devices=4": what each role is told of the whole.
      spec @4 :Text;
      # How often whoever has nothing to say says so, and when he is given up.
      heartbeatNs @8 :UInt64;
      silenceNs @9 :UInt64;
      # It shows this to whom it talks with (schemas/wires.capnp), and a worker checks what others show
      # by the key: 32 bytes each; of clients there is no key.
      pass @10 :Data;
      key @11 :Data;
      # Of a client: the one that it works for.
      tenant @12 :Text;
    }
    address @5 :Text;
    status @6 :Text;
    done @7 :Void;
    unwelcome @13 :List(UInt32);
    # What keeps the island from being left: all 0, nothing does.
    left :group {
      slices @14 :UInt64;
      arrays @15 :UInt64;
      parts @16 :UInt64;
      reads @17 :UInt64;
    }
  }
}
