// Messages of the actors in random worlds: see schemas/chaos.capnp.

#pragma once

#include "chaos.capnp.h"
#include "seaway/app.hpp"

namespace seaway::sim {

using schema::chaos::Audit;
using schema::chaos::Crash;
using schema::chaos::Deposit;
using schema::chaos::Deposits;
using schema::chaos::Feed;
using schema::chaos::Forget;
using schema::chaos::Later;
using schema::chaos::Look;
using schema::chaos::MakeOne;
using schema::chaos::Meet;
using schema::chaos::Nest;
using schema::chaos::Pass;
using schema::chaos::Plain;
using schema::chaos::Poll;
using schema::chaos::Relay;
using schema::chaos::Share;
using schema::chaos::Shared;
using schema::chaos::Slow;
using schema::chaos::Told;
using schema::chaos::Watch;

}  // namespace seaway::sim
