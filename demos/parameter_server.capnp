@0xa1d94e6b07c3f825;
# What the workers of the parameter_server demo ask their server, and what the demo asks them. Arrays
# travel beside messages, by reference: the model's four parameters, or the derivatives by them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("seaway::demos::parameter_server");

# The parameters, please.
struct Pull {}

# Here are the derivatives at the parameters of that version; now the newest parameters, please.
struct Push {
  version @0 :UInt64;
}

struct Parameters {
  version @0 :UInt64;  # How many updates they have seen.
  isLast @1 :Bool;     # There is nothing more to do.
  isUsed @2 :Bool;     # The derivatives were not too old, and became an update.
}

# Go on until there is nothing more to do.
struct Train {}

struct Trained {
  steps @0 :UInt64;      # Derivatives that this worker has computed.
  used @1 :UInt64;       # Those that became updates.
  behindMax @2 :UInt64;  # Updates of others meanwhile, at most.
}
