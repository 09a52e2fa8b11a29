// Into how many pieces does a graph fall? Every vertex takes the smallest number it hears of, whichever way arcs
// point.
#include <cstdio>

#include <spillway/run.hpp>

struct Pieces {
  using Value                      = spillway::Vertex;
  using Combine                    = spillway::Min<Value>;
  static constexpr auto along      = spillway::Along::both;
  static constexpr bool order_free = true;

  Value init(spillway::Vertex v) const { return v; }
  Value compute(Value smallest, const spillway::Edge<>&) const { return smallest; }
};

int main(int count, char** arguments) try {
  const auto graph   = spillway::open(count > 1 ? arguments[1] : "-");
  const auto outcome = spillway::run(Pieces{}, graph);
  unsigned   pieces  = 0;
  for (spillway::Vertex v = 0; v < graph.vertex_count(); ++v) pieces += outcome[v] == v;
  std::printf("%u pieces\n", pieces);
} catch (const spillway::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return static_cast<int>(error.code());
}
