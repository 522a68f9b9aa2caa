# LLVM, MLIR and lld 22.1. A plain find_package does not look below /usr/lib/llvm-22, so llvm-config says where.
execute_process(COMMAND llvm-config-22 --prefix OUTPUT_VARIABLE LLVM_22_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${LLVM_22_PREFIX}/lib/cmake/mlir)
find_package(LLD 22.1 REQUIRED CONFIG HINTS ${LLVM_22_PREFIX}/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# The packages say where mlir-tblgen is, and not where llvm-tblgen is.
set(LLVM_TABLEGEN_EXE ${LLVM_22_PREFIX}/bin/llvm-tblgen)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
