// The families of faults.

#include "sim/fault_line.hpp"

#include <algorithm>
#include <iterator>

namespace seaway::sim {

const std::vector<FaultFamily>& fault_families() {
  static const std::vector<FaultFamily> families = {
      {"kill", "processes, machines and hosts die, once or in a row, and come back"},
      {"pause", "processes stand still, and go on as zombies"},
      {"partition", "processes cannot reach others, or be reached"},
      {"drain", "nothing new is to come to an island, which is no fault"},
      {"clock", "clocks are moved, or run too fast or too slow"},
      {"wire", "connections break, stay half open, flip bits, repeat what they carried"},
      {"device", "devices are lost, hang, are slow, do not launch"},
      {"hbm", "devices have no memory"},
      {"sdc", "devices flip bits of results, and bits change where they lie"},
      {"actor", "actors throw, and are killed"},
      {"point", "fault points in product code fire (--faults points)"},
  };
  return families;
}

void append(std::vector<FaultLine>& faults, std::vector<FaultLine> more) {
  std::move(more.begin(), more.end(), std::back_inserter(faults));
}

std::string to_string(const std::vector<FaultLine>& faults) {
  std::string text;
  for (const FaultLine& fault : faults) text += ", " + fault.text;
  return text;
}

}  // namespace seaway::sim
