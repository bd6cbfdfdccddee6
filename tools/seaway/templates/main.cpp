// app_name: a Counter on each host of a cluster; all of them are told to add, and summed up.

#include <cstdio>

#include "counter.hpp"

using namespace app_name_app;

namespace {

int fail(const seaway::Status& status) {
  std::fprintf(stderr, "app_name: %s\n", status.to_string().c_str());
  return 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  // Which cluster: four hosts within this process, unless the command line names another, such as
  // unix:/run/user/1000/seaway/ctl.sock, whose hosts are the program of host.cpp.
  const char* cluster = argument_count > 1 ? arguments[1] : "embedded:islands=4,devices=1";
  auto client = seaway::connect(cluster);
  if (!client.ok()) return fail(client.status());

  // One Counter on each host, each of which begins at 10.
  auto counters = client->spawn<Counter>(client->hosts(), 10);
  if (!counters.ok()) return fail(counters.status());

  // A message to all of them. call() returns at once, get() waits for all answers.
  const auto three = [](Add::Builder m) { m.setAmount(3); };
  for (const auto& total : counters->call(&Counter::add, three).get()) {
    if (!total.ok()) return fail(total.status());
    const auto answer = **total;
    std::printf("%s has %lld\n", answer.getCounter().cStr(),
                static_cast<long long>(answer.getTotal()));
  }

  // One answer instead of many: they are combined on the way.
  const auto sum = counters->reduce(&Counter::look, kPlus).get();
  if (!sum.ok()) return fail(sum.status());
  std::printf("together %lld\n", static_cast<long long>((*sum)->getTotal()));
  return 0;
}
