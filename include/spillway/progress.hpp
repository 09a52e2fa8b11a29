// How long work reports itself and how it is stopped. The default hears nothing and never stops.
#pragma once

#include <cstdint>
#include <string_view>

#include <spillway/api.hpp>
#include <spillway/error.hpp>

namespace spillway {

enum class ProgressUnit { items, bytes, edges };

/// Derive from it to listen. `advance` and `cancelled` are called from many threads at once.
class SPILLWAY_API Progress {
 public:
  virtual ~Progress() = default;

  /// A stage starts; `total` is 0 where it cannot be known (a pipe).
  virtual void begin(std::string_view /*stage*/, std::uint64_t /*total*/, ProgressUnit /*unit*/) {}
  virtual void advance(std::uint64_t /*amount*/) {}
  virtual void end() {}

  /// True ends the work soon with ExitCode::interrupted; nothing half-made survives.
  virtual bool cancelled() const { return false; }

  /// The listener that is used when none is given.
  static Progress& none();
};

/// For whoever works long, now and then.
inline void check_cancelled(const Progress& progress) {
  if (progress.cancelled()) throw Error{ExitCode::interrupted, "interrupted"};
}

}  // namespace spillway
