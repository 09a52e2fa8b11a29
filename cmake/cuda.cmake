# CUDA is used where nvcc is found and simply absent where it is not.
set(SPILLWAY_HAS_CUDA OFF)
if(SPILLWAY_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80 90)
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
    string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr -DFMT_USE_CONSTEXPR=1 -DFMT_CONSTEVAL= -lineinfo")
    # What every kernel takes is in the log of the build; scripts/registers makes a table of it.
    string(APPEND CMAKE_CUDA_FLAGS " --resource-usage")
    # Comparisons and members that a template needs for some programs and not for others.
    string(APPEND CMAKE_CUDA_FLAGS " -diag-suppress 177,186")
    find_package(CUDAToolkit REQUIRED)
    set(SPILLWAY_HAS_CUDA ON)
  endif()
endif()
if(SPILLWAY_REQUIRE_CUDA AND NOT SPILLWAY_HAS_CUDA)
  message(FATAL_ERROR "nvcc was not found; put it on the PATH, or build without -DSPILLWAY_REQUIRE_CUDA=ON")
endif()
message(STATUS "CUDA: ${SPILLWAY_HAS_CUDA}")
