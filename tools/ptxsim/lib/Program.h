//===- Program.h - Decoded kernels ------------------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Program is one kernel with all the functions it calls, decoded into one
// array of instructions. Registers are byte offsets into the register file of a
// warp. A register of N bits is a row of 32 lanes of N bits; a predicate is one
// 32-bit word, a bit per lane. Immediates and special registers are rows too,
// which are filled when a warp starts, so that every instruction sees rows
// only.
//
// Functions do not recurse, so each has fixed registers, local memory and
// parameter slots.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_PROGRAM_H
#define PTXSIM_LIB_PROGRAM_H

#include "Ast.h"
#include "Types.h"

#include "ptxsim/ptxsim.h"

#include <string>
#include <vector>

namespace xc::ptxsim {

struct Warp;
struct Inst;

/// Executes one instruction for the lanes of |mask|, which is never empty.
using ExecFn = void (*)(Warp &warp, const Inst &inst, uint32_t mask);

constexpr unsigned kWarpSize = 32;
constexpr uint32_t kFullMask = 0xffffffffu;
/// "No register": an absent operand, or the sink `_`.
constexpr uint32_t kNoRow = 0xffffffffu;
/// The predicate at offset 0 is always true, the one at offset 4 always false.
constexpr uint32_t kTrueRow = 0;
constexpr uint32_t kFalseRow = 4;

/// Instructions that the scheduler itself executes.
enum class Control : uint8_t {
  None,
  Branch,        // to imm
  BranchIndexed, // index in row a, targets in tables[aux]
  Call,          // to imm
  CallExtern,    // externs[aux]
  Return,
  Exit,
  Trap,
  Barrier,        // barriers[aux]
  WarpSync,       // waits for the lanes of row `sync`, then runs fn
  PhaseWait,      // mbarrierOps[aux]
  ClusterBarrier, // imm: 0 arrive, 1 wait; aux: with release or acquire
  ProductWait,    // imm: groups that may go on
};

enum class InstClass : uint8_t { Integer, Floating, Conversion, Control, Memory, Sync, Matrix };

struct Inst {
  ExecFn fn = nullptr;
  uint32_t dst = kNoRow, a = kNoRow, b = kNoRow, c = kNoRow;
  uint32_t guard = kTrueRow;
  uint32_t guardFlip = 0; // all ones for @!p
  uint32_t sync = kNoRow; // member mask of a .sync instruction
  uint32_t aux = 0;       // index into a table of the program
  int64_t imm = 0;
  Control control = Control::None;
  InstClass instClass = InstClass::Integer;
  bool mayFault = false;
  bool leader = false;    // another instruction may jump here
  bool aligned = false;   // all lanes of the warp execute it together
  bool watched = false;   // one of the two below is not 0
  uint32_t touches = 0;   // index into Program::touches
  uint32_t unwritten = 0; // index into Program::unwrittenOps
};

/// For reports; parallel to Program::code.
struct InstDebug {
  uint32_t line = 0;
  std::string text;
  SourceLocation location;
};

enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel };
enum class MemScope : uint8_t { None, Cta, Cluster, Gpu, Sys };

/// The operands of a load, store, atomic or asynchronous copy.
struct MemOp {
  Space space = Space::Generic;
  uint8_t elementBytes = 4; // in memory
  uint8_t registerBytes = 4;
  uint8_t count = 1; // vector elements
  bool signExtend = false;
  bool wideAddress = true; // the address register has 64 bits
  bool readOnly = false;   // ld.global.nc: of what the kernel does not write
  Order order = Order::Weak;
  MemScope scope = MemScope::None;
  uint32_t regs[8] = {kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow, kNoRow};
  // cp.async: the source address.
  uint32_t source = kNoRow;
  int64_t sourceOffset = 0;
  bool sourceWide = true;
  uint32_t sourceBytes = kNoRow;  // row with the number of bytes to read
  uint32_t ignoreSource = kNoRow; // predicate: read nothing
  uint32_t ignoreFlip = 0;
};

/// The operands of mma: d = a * b + c, of shape m x n x k. Each operand is spread
/// over the registers of the lanes as the PTX manual's fragment layouts say.
struct MatrixOp {
  unsigned m = 16, n = 8, k = 8;
  Type d = Type::F32, a = Type::F16, b = Type::F16;
  bool satfinite = false;
  std::vector<uint32_t> dRows, aRows, bRows, cRows;
};

/// The operands of an mbarrier instruction, besides its address.
struct MbarrierOp {
  Space space = Space::Shared;
  bool wideAddress = true;
  bool drop = false, mayComplete = true;
  bool parity = false; // `state` is a parity
  Order order = Order::AcqRel;
  uint32_t count = kNoRow, bytes = kNoRow; // 32-bit rows
  uint32_t state = kNoRow;                 // of waits: 64-bit row, or 32-bit row of parities
  uint32_t dst = kNoRow;                   // state of an arrival; predicate of a wait
};

/// The operands of cp.async.bulk and its kin.
struct BulkOp {
  enum Kind : uint8_t { ToShared, ToGlobal, ToCluster };
  Kind kind = ToShared;
  bool tensor = false;
  bool im2col = false;
  unsigned rank = 0;
  uint32_t offsets[3] = {kNoRow, kNoRow, kNoRow}; // im2col: 16-bit rows, one a spatial dimension
  uint32_t coordinates[5] = {kNoRow, kNoRow, kNoRow, kNoRow, kNoRow};
  Space sharedSpace = Space::Shared;
  uint32_t shared = kNoRow; // address of the side in shared memory; source of ToCluster
  int64_t sharedOffset = 0;
  bool sharedWide = true;
  uint32_t global = kNoRow; // address of the other side, or of the tensor map
  int64_t globalOffset = 0;
  bool globalWide = true;
  Space mapSpace = Space::Generic;
  uint32_t mbarrier = kNoRow;
  int64_t mbarrierOffset = 0;
  bool mbarrierWide = true;
  Space mbarrierSpace = Space::Shared;
  uint32_t bytes = kNoRow;     // 32-bit row; not of tensors
  uint32_t multicast = kNoRow; // 16-bit row
  bool reduces = false;
  uint8_t reduction = 0; // a Reduction (BulkCopy.h)
  Type reductionType = Type::None;
};

/// The operands of wgmma.mma_async.
struct ProductOp {
  unsigned n = 8, k = 16;
  Type d = Type::F32, a = Type::F16, b = Type::F16;
  bool satfinite = false, transposeA = false, transposeB = false;
  bool negateA = false, negateB = false;
  uint32_t aDescriptor = kNoRow, bDescriptor = kNoRow; // 64-bit rows
  uint32_t scaleD = kTrueRow, scaleDFlip = 0;
  std::vector<uint32_t> dRows, aRows;
  std::vector<uint32_t> dIds, aIds; // of the registers among Program::asyncRegisters
};

enum class BarrierKind : uint8_t { Sync, Arrive, RedAnd, RedOr, RedPopc };

struct BarrierOp {
  BarrierKind kind = BarrierKind::Sync;
  uint32_t id = kNoRow;    // 32-bit row
  uint32_t count = kNoRow; // 32-bit row, or kNoRow for the whole block
  uint32_t predicate = kNoRow;
  uint32_t predicateFlip = 0;
  uint32_t dst = kNoRow; // predicate, or 32-bit row for popc
};

/// A register that some instruction may read before the thread has written it, or after a value
/// that depends on such a one. Each byte of it (a predicate is one) has a mask of the lanes where
/// that is so: Warp::unwritten.
struct TrackedRegister {
  std::string name;
  uint32_t first = 0; // among the masks of the warp
  uint32_t bytes = 0;
};

/// What an instruction does to the masks of tracked registers (Unwritten.cpp).
struct UnwrittenOp {
  static constexpr uint32_t kNone = ~0u; // no tracked register; no mask
  enum Rule : uint8_t {
    Refuse, // what it reads must have been written
    Join,   // what it writes depends on all it reads
    Bytes,  // bytes of what it writes depend on bytes of what it reads
    Select, // selp: on the operand that is chosen
    And,
    Or,      // on no more than one operand where that one decides
    Shuffle, // on the register of another lane
    Product, // wgmma: accumulators need not have been written if scale-d is false
  };
  /// A source whose value counts.
  struct Source {
    uint32_t tracked = kNone;
    uint32_t row = kNoRow; // kNoRow: all lanes have `constant`
    uint32_t bytes = 0;    // of an element of the row; 0: a predicate
    uint32_t flip = 0;
    uint64_t constant = 0;
  };
  Rule rule = Refuse;
  uint32_t guard = kNone;
  std::vector<uint32_t> reads, writes;              // tracked registers
  std::vector<uint32_t> to;                         // Bytes: masks of what is written
  std::vector<std::pair<uint32_t, uint32_t>> moves; // Bytes: number among `to`, mask of a source
  std::vector<Source> sources;                      // Select: a, b, predicate; And, Or: a, b
};

struct Constant {
  uint32_t row = 0;
  unsigned bytes = 4;
  uint64_t low = 0, high = 0;
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedSize,
  TotalSharedSize,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  IsExplicitCluster,
  // Not rows: read anew each time.
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
};

struct SpecialRow {
  Special kind;
  uint32_t row;
  unsigned bytes;
};

/// A copy between two slots of per-thread local memory, around a call.
struct SlotCopy {
  uint32_t from = 0, to = 0, bytes = 0;
};

struct CallOp {
  std::vector<SlotCopy> arguments;
  std::vector<SlotCopy> results;
  ExecFn fetchResults = nullptr;             // runs in the caller, after the return
  uint32_t trackedBegin = 0, trackedEnd = 0; // registers of the callee
  uint32_t localBegin = 0, localEnd = 0;     // its local memory, parameters included
};

struct ExternCall {
  std::string name;
  ExternFunction function;
  std::vector<SlotCopy> arguments; // `to` is an offset into the argument block
  uint32_t argumentBytes = 0;
  uint32_t resultSlot = 0, resultBytes = 0;
};

struct Program {
  std::vector<Inst> code;
  std::vector<InstDebug> debug;
  std::vector<MemOp> memOps;
  std::vector<BarrierOp> barriers;
  std::vector<MatrixOp> matrixOps;
  std::vector<MbarrierOp> mbarrierOps;
  std::vector<BulkOp> bulkOps;
  std::vector<ProductOp> productOps;
  // Registers that wgmma reads or writes while other instructions run: Inst::touches
  // indexes the lists of those that an instruction touches.
  unsigned asyncRegisters = 0;
  struct Touch {
    std::vector<uint32_t> reads, writes;
  };
  std::vector<Touch> touches; // [0] is empty
  std::vector<TrackedRegister> tracked;
  uint32_t trackedBytes = 0;
  std::vector<UnwrittenOp> unwrittenOps;     // [0] is empty
  std::vector<std::vector<uint32_t>> tables; // branch targets; operand lists
  std::vector<CallOp> calls;
  std::vector<ExternCall> externs;
  std::vector<Constant> constants;
  std::vector<SpecialRow> specials;
  uint32_t registerBytes = 0;                    // of one warp
  uint32_t maxRegisters = 0, minBlocksPerSM = 0; // .maxnreg and .minnctapersm; 0 = not given
  uint32_t localBytes = 0;                       // per thread
  uint32_t paramBytes = 0;
  uint32_t staticShared = 0;
  uint32_t dynamicSharedOffset = 0;
  bool usesDynamicShared = false;
  bool narrowScopes = false; // has operations of block or cluster scope
  uint32_t entry = 0;        // index in code
  unsigned maxCallDepth = 0;
  std::string name;
  const ModuleAst *ast = nullptr; // for file names
};

/// Copies between slots of the local memory of the lanes of |mask|.
void copySlots(Warp &warp, const std::vector<SlotCopy> &copies, uint32_t mask);
const Program &programOf(const Warp &warp);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_PROGRAM_H
