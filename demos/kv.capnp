@0xc94b07d1e5a2f386;
# What the actors of the kv demo say to each other. A user asks the primary of a key's shard; that one
# has its replicas store what it has decided, and answers when all of them have.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::kv");

struct Command {
  enum Kind {
    get @0;
    put @1;
    swap @2;  # Put `value` if there is `expected`.
  }
  kind @0 :Kind;
  key @1 :UInt64;
  value @2 :Int64;
  expected @3 :Int64;
  # Who asks, and his how-manyeth request it is. Asked again after a failure it has the same number,
  # and is not carried out twice.
  client @4 :UInt32;
  number @5 :UInt64;
}

struct Answer {
  result @0 :Int64;  # The value for get; for swap 1 if it was swapped, else 0.
  epoch @1 :UInt64;  # Of the primary that answered.
}

# What is new in a shard: one decision, or all that there is of it. To a replica, to be stored; and
# back, when the replica knows more than whoever has sent it.
struct Update {
  struct Entry {
    key @0 :UInt64;
    value @1 :Int64;
  }
  # The last thing that a client has asked.
  struct Session {
    client @0 :UInt32;
    number @1 :UInt64;
    result @2 :Int64;
  }
  epoch @0 :UInt64;     # Of the primary that says so.
  position @1 :UInt64;  # How many decisions the shard has seen with it.
  entries @2 :List(Entry);
  sessions @3 :List(Session);
}

# A user is to ask so many things, and to say how it goes.
struct Work {
  operations @0 :UInt32;
}

struct Progress {
  operations @0 :UInt32;  # Since the last word.
  failed @1 :UInt32;      # Those of them that got no answer.
  takeovers @2 :UInt32;   # How often a new primary has answered where another one had before.
}

# What is written on the board of those who use a store and look whether it is right.

# Where is the store now?
struct Where {}

# Here: what Message::mesh() is to be asked for. To the board: from now on it is there.
struct Stores {
  primaries @0 :UInt32;
  replicas @1 :UInt32;
}

# What a user is about to ask, or has asked. Answered with its number.
struct Deed {
  kind @0 :Command.Kind;
  key @1 :UInt64;
  value @2 :Int64;
  expected @3 :Int64;
  client @4 :UInt32;
  # Of one that is over: what the store has answered, and the places of both in all that was written.
  result @5 :Int64;
  begin @6 :UInt64;
  end @7 :UInt64;
}

struct Noted {
  number @0 :UInt64;
}

struct Done {
  number @0 :UInt64;
  result @1 :Int64;
}

# All that was written, in pages.
struct Read {}

struct Page {
  deeds @0 :List(Deed);
}
