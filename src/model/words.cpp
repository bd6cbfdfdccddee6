// Words for optimisers' choices and steps, as messages and logs print them.

#include <cstdio>
#include <string>

#include "seaway/model.hpp"

namespace seaway::model {
namespace {

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

}  // namespace

std::string SgdOptions::to_string() const {
  return "sgd: learning rate " + number_text(learning_rate) + ", momentum " +
         number_text(momentum) + ", weight decay " + number_text(weight_decay);
}

std::string SgdStep::to_string() const {
  return "sgd step: parameter " + seaway::to_string(parameter.type()) + ", velocity " +
         seaway::to_string(velocity.type());
}

std::string AdamOptions::to_string() const {
  return "adam: learning rate " + number_text(learning_rate) + ", mean decay " +
         number_text(mean_decay) + ", square decay " + number_text(square_decay) + ", epsilon " +
         number_text(epsilon);
}

std::string AdamStep::to_string() const {
  return "adam step: parameter " + seaway::to_string(parameter.type()) + ", mean " +
         seaway::to_string(mean.type()) + ", square " + seaway::to_string(square.type());
}

}  // namespace seaway::model
