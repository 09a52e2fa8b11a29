#include "store/stripes.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/system_calls.hpp"

namespace spillway::store {
namespace {

namespace fs = std::filesystem;

constexpr auto remedy = "convert the graph again";

struct StripeTableHeader {
  std::uint64_t conversion = 0;
  std::uint32_t stripes    = 0;
  std::uint32_t reserved   = 0;
};
static_assert(sizeof(StripeTableHeader) == 16);

struct StripeEntry {
  std::uint64_t bytes = 0, at = 0, in_at = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t reserved   = 0;
};
static_assert(sizeof(StripeEntry) == 32);

StripeHeader stripe_header(std::uint64_t conversion, std::size_t number, std::size_t stripes,
                           std::uint64_t bytes) {
  StripeHeader header{.number     = static_cast<std::uint32_t>(number),
                      .stripes    = static_cast<std::uint32_t>(stripes),
                      .conversion = conversion,
                      .file_bytes = bytes};
  header.checksum = XXH3_64bits(&header, offsetof(StripeHeader, checksum));
  return header;
}

std::uint64_t drawn_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// As the table has it: an absolute folder stays, another is found from the folder of the .spill file on, so that
/// all may be moved together.
std::string name_in_table(const std::string& folder, const std::string& file, const std::string& spill) {
  if (fs::path{folder}.is_absolute()) return (fs::path{folder} / file).string();
  const fs::path from = fs::canonical(folder_of(followed(spill)));
  return (fs::canonical(folder).lexically_relative(from) / file).string();
}

}  // namespace

// --- the table ---

StripeTable::StripeTable(std::uint64_t conversion, std::vector<Stripe> stripes)
    : conversion_(conversion), stripes_(std::move(stripes)) {}

StripeTable::StripeTable(std::span<const std::byte> section, const std::string& spill) {
  const auto refuse = [&] { return bad_input("{}: the table of stripes is damaged; {}", spill, remedy); };
  const auto take   = [&](auto& value) {
    if (section.size() < sizeof value) throw refuse();
    std::memcpy(&value, section.data(), sizeof value);
    section = section.subspan(sizeof value);
  };
  StripeTableHeader header;
  take(header);
  if (header.stripes == 0 || header.stripes > most_stripes || header.reserved != 0) throw refuse();
  std::vector<StripeEntry> entries(header.stripes);
  for (StripeEntry& entry : entries) take(entry);
  for (const StripeEntry& entry : entries) {
    if (entry.name_bytes == 0 || entry.name_bytes > section.size() || entry.reserved != 0) throw refuse();
    const std::string name{reinterpret_cast<const char*>(section.data()), entry.name_bytes};
    if (name.find('\0') != std::string::npos) throw refuse();
    stripes_.push_back({name, entry.bytes, entry.at, entry.in_at});
    section = section.subspan(entry.name_bytes);
  }
  if (!section.empty()) throw refuse();
  conversion_ = header.conversion;
}

std::vector<std::byte> StripeTable::section() const {
  std::vector<std::byte> bytes;
  const auto             add = [&](const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  const StripeTableHeader header{.conversion = conversion_,
                                 .stripes    = static_cast<std::uint32_t>(stripes_.size())};
  add(&header, sizeof header);
  for (const Stripe& each : stripes_) {
    const StripeEntry entry{.bytes      = each.bytes,
                            .at         = each.at,
                            .in_at      = each.in_at,
                            .name_bytes = static_cast<std::uint32_t>(each.path.size())};
    add(&entry, sizeof entry);
  }
  for (const Stripe& each : stripes_) add(each.path.data(), each.path.size());
  return bytes;
}

std::string StripeTable::path(std::size_t i, const std::string& spill) const {
  const fs::path named = stripes_[i].path;
  return named.is_absolute() ? named.string() : (fs::path{folder_of(followed(spill))} / named).string();
}

void StripeTable::check(const std::string& spill) const {
  for (std::size_t i = 0; i < stripes_.size(); ++i) {
    const std::string name = path(i, spill);
    if (!is_regular_file(name))
      throw bad_input("{}: a stripe of {}, which is not there; move it back, leave a link to it there, or {}",
                      name, spill, remedy);
    const FileHandle    file  = open_for_reading(name);
    const std::uint64_t bytes = file_size(file, name);
    if (bytes < sizeof(StripeHeader))
      throw bad_input("{}: {} bytes are too few for a stripe of {}; it was cut off: {}", name, bytes, spill,
                      remedy);
    StripeHeader header;
    read_at(file, name, 0, &header, sizeof header);
    if (header.magic != stripe_magic || header.version != version)
      throw bad_input("{}: not a stripe of this version, as {} has them; {}", name, spill, remedy);
    if (header.checksum != XXH3_64bits(&header, offsetof(StripeHeader, checksum)))
      throw bad_input("{}: the header does not match its checksum; the stripe is damaged: {}", name, remedy);
    if (header.conversion != conversion_ || header.number != i || header.stripes != stripes_.size())
      throw bad_input(
          "{}: not the stripe that {} has here, but one of another conversion or another place; put back the one "
          "that "
          "was written there, or {}",
          name, spill, remedy);
    if (bytes != stripes_[i].bytes || bytes != header.file_bytes)
      throw bad_input("{}: {} bytes where {} states {}; the stripe was cut off or added to: {}", name, bytes,
                      spill, stripes_[i].bytes, remedy);
  }
}

void StripeTable::remove(const std::string& spill) const noexcept {
  for (std::size_t i = 0; i < stripes_.size(); ++i) try {
      const std::string name = path(i, spill);
      StripeHeader      header;
      read_at(open_for_reading(name), name, 0, &header, sizeof header);
      if (header.magic != stripe_magic || header.conversion != conversion_ || header.number != i) continue;
      retried([&] { return system_calls().unlink(name.c_str()); });
    } catch (const std::exception&) {
      continue;  // it is not there, or not to be read: nothing is lost but room
    }
}

// --- writing ---

StripeOutput::StripeOutput(const std::string& spill, const std::vector<std::string>& folders)
    : ends_(folders.size(), section_alignment) {
  if (folders.size() > most_stripes)
    throw usage_error("--stripe: {} folders; up to {} are possible", folders.size(), most_stripes);
  conversion_            = drawn_number();
  const std::string name = fs::path{followed(spill)}.filename().string();
  for (std::size_t i = 0; i < folders.size(); ++i) {
    // What a killed command left is found by the name without the conversion.
    const fs::path folder = folders[i];
    files_.push_back(std::make_unique<OutputFile>((folder / fmt::format("{}.{}", name, i)).string()));
    const std::string own = fmt::format("{}.{:016x}.{}", name, conversion_, i);
    files_.back()->rename((folder / own).string(), spill);
    names_.push_back(name_in_table(folders[i], own, spill));
  }
}

void StripeOutput::write(std::span<const std::uint64_t> first, std::uint64_t page,
                         std::span<const std::byte> bytes) {
  const std::uint64_t stripe = page % files_.size();
  const std::uint64_t at     = first[stripe] + page / files_.size() * bytes.size();
  files_[stripe]->write_at(at, bytes.data(), bytes.size());
  ends_[stripe] = std::max(ends_[stripe], at + bytes.size());
}

StripeTable StripeOutput::finish(std::span<const std::uint64_t> out_at, std::span<const std::uint64_t> in_at) {
  std::vector<StripeTable::Stripe> stripes;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const StripeHeader header = stripe_header(conversion_, i, files_.size(), ends_[i]);
    files_[i]->resize(ends_[i]);
    files_[i]->write_at(0, &header, sizeof header);
    stripes.push_back({names_[i], ends_[i], out_at[i], in_at.empty() ? 0 : in_at[i]});
  }
  return {conversion_, std::move(stripes)};
}

std::vector<OutputFile*> StripeOutput::files() {
  std::vector<OutputFile*> all;
  for (const auto& file : files_) all.push_back(file.get());
  return all;
}

}  // namespace spillway::store
