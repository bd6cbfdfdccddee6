@0xf1a5c0de5eaa11fe;
# What the actors of app_name are asked, and what they answer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("app_name_app");

struct Add {
  amount @0 :Int64;
}

struct Look {}

struct Total {
  total @0 :Int64;
  counter @1 :Text;  # Who says so: "Counter[2]".
}
