// Edges are sent while they are read: each thread copies some to pinned memory, from which they are transferred.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "engine/cuda/edge_copy.hpp"
#include "engine/cuda/staging.hpp"

#include <spillway/engine/memory.hpp>

namespace spillway {
namespace cuda {
namespace {

class SentEdges final : public EdgeSink {
 public:
  explicit SentEdges(const DeviceChoice& choice) : index_(choice.index), memory_(choice.memory) {}
  explicit SentEdges(std::shared_ptr<Device> device) : index_(device->index()), device_(std::move(device)) {}
  ~SentEdges() override {
    if (ring_) give_back();
  }

  bool expect(std::uint64_t words, const std::shared_ptr<MemoryBudget>& host) override {
    try {
      staged_.emplace(host, "edges on their way");
      staged_->raise_to(ring_buffers * StagingRing::usual_bytes);
      if (!device_) {
        device_ = std::make_shared<Device>(index_, memory_);
        device_->set_host_budget(host);
        device_->enter();
      }
      if (device_->room() / sizeof(std::uint32_t) < words) return false;
      ring_ = IdleRings::instance().take(index_, ring_buffers, StagingRing::usual_bytes);
      if (!ring_) return false;
      stream_.emplace();
      sent_         = std::make_unique<Event[]>(slots);
      copy_         = std::make_shared<EdgesOnDevice>();
      copy_->device = device_;
      copy_->words  = {*device_, words, what_edges};
      allocated_.emplace();
      allocated_->record(nullptr);  // whoever had this memory is done with it then
      allocated_->make_wait(*stream_);
      return true;
    } catch (const Error&) {  // without it they are sent later, or not at all
      copy_.reset();
      if (ring_) give_back();
      staged_.reset();
      return false;
    }
  }

  void take(std::uint64_t at, std::span<const std::uint32_t> words) override {
    for (std::uint64_t first = 0; first < words.size() && !failed_; first += most_words)
      send_part(at + first, words.subspan(first, std::min(most_words, words.size() - first)));
  }

  std::shared_ptr<EdgeCopy> finish(const std::uint32_t* words) override {
    if (cudaStreamSynchronize(*stream_) != cudaSuccess) failed_ = true;
    if (failed_)
      copy_.reset();
    else
      copy_->on_host = words;
    return std::move(copy_);
  }

 private:
  /// The buffers that other transfers use, in smaller parts.
  static constexpr std::uint64_t most_words   = (1u << 20) / sizeof(std::uint32_t);
  static constexpr unsigned      ring_buffers = StagingRing::usual_count;
  static constexpr unsigned slots = ring_buffers * StagingRing::usual_bytes / (most_words * sizeof(std::uint32_t));

  void send_part(std::uint64_t at, std::span<const std::uint32_t> words) {
    const std::uint64_t    turn = turn_++ % slots;
    const std::scoped_lock mine{filling_[turn]};
    try {
      check(cudaSetDevice(index_), "choosing a GPU");
      sent_[turn].wait();
      std::uint32_t* const from =
          (*ring_)[turn % ring_buffers].memory.as<std::uint32_t>() + turn / ring_buffers * most_words;
      std::ranges::copy(words, from);
      const std::scoped_lock in_turn{sending_};
      check(cudaMemcpyAsync(copy_->words.data() + at, from, words.size_bytes(), cudaMemcpyHostToDevice, *stream_),
            "sending edges");
      sent_[turn].record(*stream_);
    } catch (const Error&) {  // what it is will show when they are sent again
      failed_ = true;
    }
  }

  void give_back() {
    if (!stream_ || cudaStreamSynchronize(*stream_) == cudaSuccess)
      IdleRings::instance().put(index_, std::move(ring_));
  }

  int                            index_;
  std::uint64_t                  memory_ = 0;
  std::shared_ptr<Device>        device_;
  std::optional<Charge>          staged_;  ///< pinned
  std::unique_ptr<StagingRing>   ring_;
  std::optional<Stream>          stream_;
  std::shared_ptr<EdgesOnDevice> copy_;
  std::unique_ptr<Event[]>       sent_;  ///< what lies in a slot
  std::optional<Event>           allocated_;
  std::mutex                     filling_[slots], sending_;
  std::atomic<std::uint64_t>     turn_   = 0;
  std::atomic<bool>              failed_ = false;
};

}  // namespace

std::shared_ptr<EdgesOnDevice> send(std::shared_ptr<Device> device, const EdgeList& list, int threads,
                                    const std::shared_ptr<MemoryBudget>& host) {
  SentEdges sink{device};
  if (sink.expect(list.words().size(), host)) {
    list.edges(threads, &sink);
    if (auto sent = sink.finish(list.words().data())) return std::static_pointer_cast<EdgesOnDevice>(sent);
  }
  auto sent     = std::make_shared<EdgesOnDevice>();
  sent->device  = device;
  sent->on_host = list.edges(threads).words;
  sent->words   = {*device, list.words().size(), what_edges};
  sent->words.upload(sent->on_host);
  return sent;
}

}  // namespace cuda

std::unique_ptr<EdgeSink> edge_sink_on(const DeviceChoice& device) {
  if (device.kind != cuda_kind()) return nullptr;
  return std::make_unique<cuda::SentEdges>(device);
}

}  // namespace spillway
