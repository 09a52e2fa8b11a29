#include "plan/cache_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"

#include <spillway/error.hpp>

namespace spillway {

std::string cache_path(const std::string& name) {
  namespace fs       = std::filesystem;
  const auto* cache  = std::getenv("XDG_CACHE_HOME");
  const auto* home   = std::getenv("HOME");
  const auto  folder = cache && *cache == '/' ? fs::path{cache}
                       : home && *home == '/' ? fs::path{home} / ".cache"
                                              : fs::path{};
  return folder.empty() ? std::string{} : (folder / "spillway" / name).string();
}

nlohmann::ordered_json read_cache(const std::string& path) {
  std::ifstream          file{path};
  nlohmann::ordered_json cache = nlohmann::ordered_json::parse(file, nullptr, false);
  return cache.is_object() ? cache : nlohmann::ordered_json::object();
}

void write_cache(const std::string& path, const nlohmann::ordered_json& cache) {
  if (path.empty()) return;
  try {
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    OutputFile file{path};
    // A path may be no UTF-8.
    const std::string text = cache.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    file.write_at(0, text.data(), text.size());
    file.commit();
  } catch (const Error&) {
  } catch (const std::filesystem::filesystem_error&) {
  } catch (const nlohmann::ordered_json::exception&) {
  }
}

}  // namespace spillway
