// What demos.cpp names: the one function of each demo's file.

#pragma once

#include "demos/demos.hpp"

namespace seaway::demos {

int run_fig2(const DemoOptions& options);
int run_digits(const DemoOptions& options);
int run_deadlock(const DemoOptions& options);
int run_two_clients(const DemoOptions& options);
int run_pingpong(const DemoOptions& options);
int run_skynet(const DemoOptions& options);
int run_philosophers(const DemoOptions& options);
int run_kv(const DemoOptions& options);
int run_parameter_server(const DemoOptions& options);
int run_pipeline_feed(const DemoOptions& options);
int run_counted_twice(const DemoOptions& options);
int run_lost_write(const DemoOptions& options);
int run_transfer(const DemoOptions& options);
int run_skipped_batch(const DemoOptions& options);

// Of those that have something for hosts to know.
void register_kv(Registry& registry);
void register_kv_users(Registry& registry);
void register_parameter_server(Registry& registry);
void register_philosophers(Registry& registry);
void register_pipeline_feed(Registry& registry);
void register_pingpong(Registry& registry);
void register_skynet(Registry& registry);
void register_two_clients(Registry& registry);

}  // namespace seaway::demos
