# Device code: for the GPU of this machine where there is one and nvcc is found, or where it is asked for.
#   AUTO  as above
#   ON    always; fails where nvcc is not found
#   NVCC  where nvcc is found, whether there is a GPU or not
#   OFF   never
set(SPILLWAY_CUDA AUTO CACHE STRING "Device code: AUTO, ON, NVCC or OFF")
set_property(CACHE SPILLWAY_CUDA PROPERTY STRINGS AUTO ON NVCC OFF)
set(SPILLWAY_HAS_CUDA OFF)
set(SPILLWAY_BUILD_NOTE "")

execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE SPILLWAY_NO_GPU OUTPUT_QUIET ERROR_QUIET)
if(NOT SPILLWAY_CUDA MATCHES "^(AUTO|ON|NVCC|OFF)$")
  message(FATAL_ERROR "SPILLWAY_CUDA is '${SPILLWAY_CUDA}'; it takes AUTO, ON, NVCC or OFF (make CUDA=auto|on|off)")
elseif(NOT SPILLWAY_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)  # it may have been installed since
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND (NOT SPILLWAY_CUDA STREQUAL "AUTO" OR NOT SPILLWAY_NO_GPU))
    set(SPILLWAY_HAS_CUDA ON)
  elseif(SPILLWAY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "nvcc was not found: put it on the PATH, let CUDACXX name it, or use make CUDA=off")
  elseif(CMAKE_CUDA_COMPILER)
    set(SPILLWAY_BUILD_NOTE "built for the CPU alone: this machine has no GPU. For one that has: make CUDA=on")
  elseif(SPILLWAY_CUDA STREQUAL "NVCC")
    set(SPILLWAY_BUILD_NOTE "nvcc was not found: that it can compile the kernels was not tested")
  elseif(NOT SPILLWAY_NO_GPU)
    set(SPILLWAY_BUILD_NOTE
      "built for the CPU alone: nvcc was not found. To use the GPU of this machine, put nvcc on the PATH and make again")
  endif()
endif()

if(SPILLWAY_HAS_CUDA)
  # The GPU that is here; where there is none, those that Spillway is tested on, and code that newer ones can take.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(SPILLWAY_NO_GPU)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    else()
      set(CMAKE_CUDA_ARCHITECTURES native)
    endif()
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc 12 and newer speak C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  # Programs use the standard library's constexpr functions. What nvcc hands to the host's compiler cannot check
  # format strings at compile time.
  string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr -DFMT_USE_CONSTEXPR=1 -DFMT_CONSTEVAL=")
  # Profilers find lines; what every kernel takes is in the log of the build (scripts/registers makes a table of it).
  string(APPEND CMAKE_CUDA_FLAGS_RELEASE " -lineinfo --resource-usage")
  # Comparisons and members that a template needs for some programs and not for others.
  string(APPEND CMAKE_CUDA_FLAGS " -diag-suppress 177,186")
  find_package(CUDAToolkit REQUIRED)
endif()
message(STATUS "CUDA: ${SPILLWAY_HAS_CUDA}")

# `make` ends with what a person should know of the build.
file(WRITE ${CMAKE_BINARY_DIR}/note.txt "${SPILLWAY_BUILD_NOTE}")
