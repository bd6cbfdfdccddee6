// From door to door.

#include "app/local_network.hpp"

namespace seaway::app {

void LocalNetwork::send(SiloId, SiloId to, std::vector<Envelope>& batch) {
  doors_[to]->deliver(batch);
  batch.clear();
}

}  // namespace seaway::app
