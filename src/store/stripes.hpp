// Stripes: the pages of a graph in several files on several disks, which are read at once. Page j is in stripe
// j mod n, at place j / n there (GTS, section 4: g(j), by default mod). The .spill file holds all else, and names
// its stripes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "store/layout.hpp"

namespace spillway::store {

/// The section that names the stripes of a .spill file.
class StripeTable {
 public:
  struct Stripe {
    std::string   path;               ///< absolute, or from the folder of the .spill file on
    std::uint64_t bytes = 0;          ///< of the file
    std::uint64_t at = 0, in_at = 0;  ///< where pages begin, and those of in-edges
  };

  StripeTable(std::uint64_t conversion, std::vector<Stripe> stripes);
  /// Error{bad_input} where the section is not one. `spill` is the file that has it.
  StripeTable(std::span<const std::byte> section, const std::string& spill);

  std::vector<std::byte>  section() const;
  std::span<const Stripe> stripes() const { return stripes_; }
  /// Where a stripe is.
  std::string path(std::size_t i, const std::string& spill) const;

  /// Error{bad_input} with file and remedy where a stripe is not there, or not as the .spill file was written
  /// with.
  void check(const std::string& spill) const;
  /// Of a .spill file that is no more; what is not its own stays.
  void remove(const std::string& spill) const noexcept;

 private:
  std::uint64_t       conversion_;
  std::vector<Stripe> stripes_;
};

/// Stripes while they are written. They get their names with the .spill file, in which none is named before.
class StripeOutput {
 public:
  /// One in each of the folders. None: there are no stripes.
  StripeOutput(const std::string& spill, const std::vector<std::string>& folders);

  bool in_use() const { return !files_.empty(); }
  /// Where pages begin that are written from now on, in each stripe.
  std::vector<std::uint64_t> ends() const { return ends_; }
  void write(std::span<const std::uint64_t> first, std::uint64_t page, std::span<const std::byte> bytes);
  /// Once all pages are written; the table to be written to the .spill file.
  StripeTable finish(std::span<const std::uint64_t> out_at, std::span<const std::uint64_t> in_at);

  std::vector<OutputFile*> files();

 private:
  std::uint64_t                            conversion_ = 0;
  std::vector<std::string>                 names_;  ///< as the table has them
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::uint64_t>               ends_;
};

}  // namespace spillway::store
