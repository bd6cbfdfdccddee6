@0xd1a7c09b5e3f8846;
# What is said first on a connection between two processes, before anything else is believed.
#
# Whoever connects says one Introduction, the other end one Welcome: each a frame of Cap'n Proto's
# standard framing, of a few kilobytes at most. After a `talk` that was welcomed, both ends say what
# src/transport/packet.hpp describes, until the connection breaks; after `data`, what
# src/transport/data_header.hpp does. After an `ask` the connection ends with its answer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::wire");

struct Introduction {
  magic @0 :UInt32;  # 0x53656177, "Seaw": whatever is not, is somebody else's protocol.
  protocol @1 :UInt32;
  # Which cluster; 0 of a question to a cluster that is not known yet.
  cluster @2 :UInt64;
  union {
    talk :group {
      from @3 :UInt32;
      to @4 :UInt32;
    }
    ask @5 :Data;  # A frame.
  }
  # Of who asks: his token as text, and within TLS the HMAC-SHA256 of "seaway token " and of the
  # connection's exported value ("EXPORTER-seaway-channel") by the token. Empty: he is known by
  # something else.
  token @6 :Text;
  binding @7 :Data;
  # Of who talks: which life of it, and the pass that it was given when it enrolled.
  life @8 :UInt32;
  pass @9 :Data;
  # Of a talk: it is for bytes of values alone, beside the one that both processes have.
  data @10 :Bool;
}

struct Welcome {
  protocol @0 :UInt32;
  union {
    # The number of a StatusCode, and its message.
    refused :group {
      code @1 :UInt8;
      message @2 :Text;
    }
    talk @3 :Void;
    # The smaller of two that connect to each other at once: the other connection is on its way.
    crossed @4 :Void;
    answer @5 :Data;
  }
}
