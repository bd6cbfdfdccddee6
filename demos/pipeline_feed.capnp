@0xe4b81d27a6f0539c;
# What the readers of the pipeline_feed demo are asked, and what they answer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::pipeline_feed");

# Read your part of the file so many times; each time in another order.
struct Read {
  epochs @0 :UInt32;
}

# One of many answers to Read. Images and labels are numbers beside it, as bytes.
struct Batch {
  number @0 :UInt32;       # Of this reader's batches, from 0.
  lines @1 :List(UInt32);  # Which lines of the file.
  images @2 :UInt32;       # What Message::bytes() is to be asked for.
  labels @3 :UInt32;
}

# How far are you?
struct Look {}

struct Made {
  batches @0 :UInt32;
}
