# What the simulator's libraries and programs are compiled with; the whole build and the project of its own share it.
find_package(Threads REQUIRED)

set(PTXSIM_WARNINGS -Wall -Wextra -Wno-unused-parameter)

# Its C++ throws nothing and asks no type for its name.
function(ptxsim_set_options target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  target_compile_options(${target} PRIVATE ${PTXSIM_WARNINGS} $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
endfunction()
