// Frame, where the rooms look for it; its class is public, for users' messages are frames as well.

#pragma once

#include "seaway/app/frame.hpp"
