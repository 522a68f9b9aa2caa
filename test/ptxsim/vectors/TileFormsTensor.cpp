//===- TileFormsTensor.cpp - Tensor copies in the vector suite ------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads put a box into shared memory full of a pattern and write that memory out;
// stores and reductions put shared memory into a tensor that is the output.
//
//===----------------------------------------------------------------------===//

#include "TileForms.h"

#include <algorithm>
#include <cstring>

namespace xc::vectors {
namespace {

// Values of CUtensorMapDataType.
enum : unsigned { U8, U16, U32, I32, U64, I64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz };

unsigned elementBytes(unsigned type) {
  static const unsigned kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return kBytes[type];
}

std::string coordinates(unsigned rank, const int *at) {
  std::string text = "{";
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(at[i]);
  return text + "}";
}

/// The head of all kernels: shared memory of |bytes| bytes at `buf`, an mbarrier at
/// `bar`, which thread 0 initialises for |arrivals|.
std::string head(unsigned bytes, bool map) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n\n"
         ".visible .entry form(.param .u64 in, .param .u64 out" +
         std::string(map ? ", .param .align 64 .b8 map[128]" : "") +
         ") .maxntid 128, 1, 1\n{\n  .shared .align 1024 .b8 buf[" + std::to_string(bytes) +
         "];\n  .shared .align 8 .b64 bar;\n  .reg .pred %p<4>;\n  .reg .b32 %r<16>;\n"
         "  .reg .b64 %in, %out, %map, %q<8>;\n  ld.param.u64 %in, [in];\n"
         "  ld.param.u64 %out, [out];\n" +
         (map ? "  mov.b64 %q0, map;\n  cvta.param.u64 %map, %q0;\n" : "") +
         "  mov.u32 %r0, %tid.x;\n  mov.u32 %r1, buf;\n  setp.eq.u32 %p0, %r0, 0;\n"
         "  mul.wide.u32 %q1, %r0, 16;\n  mad.lo.u32 %r2, %r0, 16, %r1;\n";
}

/// A loop over |bytes| of shared memory, 16 bytes a thread: %r2 is the place there,
/// %q2 that in global memory at |base|.
std::string loop(const std::string &label, unsigned bytes, const std::string &base,
                 const std::string &body) {
  return "  add.s64 %q2, " + base + ", %q1;\n  mov.u32 %r3, %r2;\n  mad.lo.u32 %r4, %r0, 16, 0;\n" +
         label + ":\n  setp.lt.u32 %p1, %r4, " + std::to_string(bytes) + ";\n" + body +
         "  add.s64 %q2, %q2, 2048;\n  add.u32 %r3, %r3, 2048;\n  add.u32 %r4, %r4, 2048;\n"
         "  @%p1 bra " +
         label + ";\n";
}

const char *const kFill = "  @%p1 st.shared.v4.b32 [%r3], {0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, "
                          "0xa5a5a5a5};\n";
const char *const kWriteOut = "  @%p1 ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r3];\n"
                              "  @%p1 st.global.v4.b32 [%q2], {%r5, %r6, %r7, %r8};\n";
const char *const kReadIn = "  @%p1 ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%q2];\n"
                            "  @%p1 st.shared.v4.b32 [%r3], {%r5, %r6, %r7, %r8};\n";
const char *const kWait =
    "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n  @!%p2 bra WAIT;\n";

std::vector<uint8_t> randomBytes(const std::string &name, size_t size) {
  Random random{fnv(name.data(), name.size())};
  std::vector<uint8_t> bytes(size);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random.next() >> 33);
  return bytes;
}

struct BoxForm {
  std::string what;
  TensorSpec tensor;
  int at[5] = {};
  unsigned place = 0; // offset in shared memory
};

uint64_t tensorBytes(const TensorSpec &t) {
  return t.rank > 1 ? t.strides[t.rank - 2] * t.dims[t.rank - 1] : t.dims[0] * elementBytes(t.type);
}

unsigned boxBytes(const TensorSpec &t) {
  uint64_t bytes = elementBytes(t.type);
  for (unsigned i = 0; i < t.rank; ++i)
    bytes *= i == 0 ? t.box[i] : (t.box[i] + t.elementStrides[i] - 1) / t.elementStrides[i];
  return static_cast<unsigned>(bytes);
}

/// Bytes of shared memory that the box takes: rows are as wide as the swizzle's span.
unsigned placeBytes(const TensorSpec &t) {
  unsigned inner = t.box[0] * elementBytes(t.type);
  unsigned pitch = t.swizzle ? 16u << t.swizzle : inner;
  return boxBytes(t) / inner * std::max(pitch, inner);
}

/// Strides without gaps, each a multiple of 16 bytes.
TensorSpec tensorOf(unsigned type, std::initializer_list<uint64_t> dims,
                    std::initializer_list<uint32_t> box, unsigned swizzle = 0) {
  TensorSpec t;
  t.type = type;
  t.rank = static_cast<unsigned>(dims.size());
  t.swizzle = swizzle;
  unsigned i = 0;
  for (uint64_t dim : dims)
    t.dims[i++] = dim;
  i = 0;
  for (uint32_t extent : box)
    t.box[i++] = extent;
  uint64_t stride = (t.dims[0] * elementBytes(type) + 15) / 16 * 16;
  for (i = 0; i + 1 < t.rank; ++i) {
    t.strides[i] = stride;
    stride *= t.dims[i + 1];
  }
  return t;
}

std::string boxText(const BoxForm &f) {
  return std::to_string(f.tensor.rank) + "d " + f.what + " type " + std::to_string(f.tensor.type) +
         " swizzle " + std::to_string(f.tensor.swizzle);
}

void addLoad(std::vector<TileForm> &forms, const BoxForm &f) {
  TileForm form;
  form.name = "cp.async.bulk.tensor load " + boxText(f);
  unsigned bytes = boxBytes(f.tensor);
  unsigned shared = (f.place + placeBytes(f.tensor) + 1023) / 1024 * 1024;
  std::string rank = std::to_string(f.tensor.rank);
  form.text = head(shared, true) + loop("FILL", shared, "%out", kFill) +
              "  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
              "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n  bar.sync 0;\n"
              "  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
              std::to_string(bytes) + ";\n  @%p0 cp.async.bulk.tensor." + rank +
              "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buf+" +
              std::to_string(f.place) + "], [%map, " + coordinates(f.tensor.rank, f.at) +
              "], [bar];\n" + kWait + loop("OUT", shared, "%out", kWriteOut) + "  ret;\n}\n";
  form.input = randomBytes(form.name, tensorBytes(f.tensor) + f.tensor.offset);
  form.initialOutput.assign(shared, 0);
  form.hasTensor = true;
  form.tensor = f.tensor;
  forms.push_back(form);
}

/// |reduction|: "" for a store, or ".add" and so on.
void addStore(std::vector<TileForm> &forms, const BoxForm &f, const std::string &reduction) {
  TileForm form;
  form.name = "cp" + std::string(reduction.empty() ? "" : ".reduce") + ".async.bulk.tensor store" +
              reduction + " " + boxText(f);
  unsigned shared = (f.place + placeBytes(f.tensor) + 1023) / 1024 * 1024;
  std::string rank = std::to_string(f.tensor.rank);
  form.text = head(shared, true) + loop("FILL", shared, "%in", kReadIn) +
              "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @%p0 cp" +
              (reduction.empty() ? "" : ".reduce") + ".async.bulk.tensor." + rank +
              "d.global.shared::cta" + reduction + ".tile.bulk_group [%map, " +
              coordinates(f.tensor.rank, f.at) + "], [buf+" + std::to_string(f.place) +
              "];\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n  ret;\n}\n";
  form.input = randomBytes(form.name, shared);
  form.initialOutput = randomBytes(form.name + " output", tensorBytes(f.tensor));
  form.hasTensor = true;
  form.tensor = f.tensor;
  form.tensor.overOutput = true;
  forms.push_back(form);
}

/// Singles halfway between two of TF32's values, and others of interest.
void ties(std::vector<TileForm> &forms) {
  static const uint32_t kValues[] = {0x3f801000, 0x3f803000, 0xbf801000, 0x7f7ff000,
                                     0x7f800000, 0xff800000, 0x00001000, 0x80003000};
  for (unsigned type : {F32Ftz, TF32, TF32Ftz}) {
    addLoad(forms, {"halfway", tensorOf(type, {8}, {8}), {0}});
    std::memcpy(forms.back().input.data(), kValues, sizeof(kValues));
  }
}

void addLoads(std::vector<TileForm> &forms) {
  addLoad(forms, {"inside", tensorOf(F16, {256}, {64}), {32}});
  addLoad(forms, {"below and beyond", tensorOf(U32, {64}, {128}), {-16}});
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    uint32_t inner = swizzle ? 8u << swizzle : 40;
    addLoad(forms, {"inside", tensorOf(BF16, {200, 40}, {inner, 24}, swizzle), {16, 5}});
    addLoad(forms, {"corner below", tensorOf(F16, {200, 40}, {inner, 24}, swizzle), {-8, -3}});
    addLoad(forms, {"corner beyond", tensorOf(F16, {202, 40}, {inner, 24}, swizzle), {184, 30}});
    addLoad(forms, {"half rows", tensorOf(F16, {200, 40}, {8, 24}, swizzle), {16, 7}});
    addLoad(forms, {"far outside", tensorOf(F16, {64, 16}, {16, 8}, swizzle), {1000, -1000}});
    addLoad(forms, {"odd place",
                    tensorOf(F32, {64, 40}, {swizzle ? 4u << swizzle : 12, 16}, swizzle),
                    {4, 1},
                    384});
    addLoad(forms, {"box", tensorOf(U8, {96, 6, 5}, {16, 4, 3}, swizzle), {16, 3, -1}});
  }
  addLoad(forms, {"inside", tensorOf(F64, {20, 9}, {6, 5}), {4, 2}});
  addLoad(forms, {"beyond", tensorOf(I64, {20, 9}, {16, 5}, 3), {10, 6}});
  addLoad(forms, {"box", tensorOf(F16, {24, 5, 4, 3}, {16, 3, 3, 2}), {-8, 3, 2, -1}});
  addLoad(forms, {"box", tensorOf(F32, {16, 5, 4, 3, 3}, {8, 2, 3, 2, 2}, 1), {12, 1, -1, 2, 1}});
  // The innermost coordinate must be a multiple of 16 bytes.
  addLoad(forms, {"unaligned", tensorOf(F16, {200, 40}, {16, 4}), {4, 0}});
  addLoad(forms, {"unaligned", tensorOf(F32, {200, 40}, {16, 4}, 3), {-2, 0}});
  addLoad(forms, {"unaligned", tensorOf(U8, {256}, {64}), {8}});
  TensorSpec nan = tensorOf(F16, {40, 20}, {16, 16});
  nan.fill = 1;
  addLoad(forms, {"NaN fill", nan, {32, 10}});
  nan = tensorOf(F32, {40, 20}, {16, 16});
  nan.fill = 1;
  addLoad(forms, {"NaN fill", nan, {32, 10}});
  nan = tensorOf(BF16, {40, 20}, {16, 16});
  nan.fill = 1;
  addLoad(forms, {"NaN fill", nan, {32, 10}});
  nan = tensorOf(F64, {20, 20}, {8, 8});
  nan.fill = 1;
  addLoad(forms, {"NaN fill", nan, {16, 16}});
  ties(forms);
  for (unsigned type : {F32Ftz, TF32, TF32Ftz})
    addLoad(forms, {"rounding", tensorOf(type, {64, 16}, {32, 16}), {0, 0}});
  TensorSpec strided = tensorOf(U16, {64, 40}, {32, 24});
  strided.elementStrides[1] = 2;
  addLoad(forms, {"every second row", strided, {8, 3}});
  strided.elementStrides[1] = 3;
  addLoad(forms, {"every third row", strided, {8, 20}});
  strided = tensorOf(U32, {64, 40}, {16, 8});
  strided.elementStrides[0] = 2;
  addLoad(forms, {"every second column", strided, {4, 3}});
  TensorSpec overlapped = tensorOf(F16, {64, 16}, {32, 8});
  overlapped.strides[0] = 32;
  addLoad(forms, {"overlapping rows", overlapped, {16, 4}});
}

void addStores(std::vector<TileForm> &forms) {
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    uint32_t inner = swizzle ? 8u << swizzle : 24;
    addStore(forms, {"inside", tensorOf(BF16, {96, 20}, {inner, 9}, swizzle), {8, 4}}, "");
    addStore(forms, {"corner beyond", tensorOf(F16, {94, 20}, {inner, 9}, swizzle), {88, 15}}, "");
  }
  addStore(forms, {"inside", tensorOf(U32, {100}, {32}), {80}}, "");
  addStore(forms, {"box", tensorOf(F32, {12, 4, 5}, {8, 3, 3}), {8, 2, 3}}, "");
  addStore(forms, {"box", tensorOf(U8, {48, 3, 4, 2}, {16, 2, 2, 2}), {32, 2, 3, 1}}, "");
  addStore(forms, {"box", tensorOf(U16, {24, 3, 2, 2, 2}, {8, 2, 2, 2, 2}), {16, 2, 1, 1, 0}}, "");
  // A box that is stored must not begin below zero, though one that is loaded may.
  addStore(forms, {"corner below", tensorOf(F16, {96, 20}, {24, 9}), {-8, 0}}, "");
  addStore(forms, {"row below", tensorOf(F16, {96, 20}, {24, 9}), {8, -3}}, "");
  addStore(forms, {"unaligned", tensorOf(F16, {200, 40}, {16, 4}), {4, 0}}, "");
  TensorSpec strided = tensorOf(U16, {64, 20}, {32, 8});
  strided.elementStrides[1] = 2;
  addStore(forms, {"every second row", strided, {8, 3}}, "");
  for (const char *op : {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"})
    addStore(forms, {"reduce", tensorOf(U32, {20, 10}, {16, 4}), {8, 8}}, op);
  for (unsigned type : {I32, U64, I64})
    for (const char *op : {".add", ".min", ".max"})
      if (type == I32 || op[1] != 'a' || type == U64)
        addStore(forms, {"reduce", tensorOf(type, {20, 10}, {16, 4}), {8, 8}}, op);
  for (unsigned type : {F16, BF16, F32})
    addStore(forms, {"reduce", tensorOf(type, {64, 10}, {32, 4}), {40, 3}}, ".add");
  for (unsigned type : {F16, BF16})
    for (const char *op : {".min", ".max"})
      addStore(forms, {"reduce", tensorOf(type, {64, 10}, {32, 4}, 2), {40, 3}}, op);
}

/// Two blocks of a cluster, each with half of the box, each sending it to both.
void addMulticast(std::vector<TileForm> &forms) {
  TileForm form;
  form.name = "cp.async.bulk.tensor load multicast::cluster";
  form.text =
      head(4096, true) + loop("FILL", 4096, "%out", kFill) +
      "  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n  fence.mbarrier_init.release.cluster;\n"
      "  fence.proxy.async;\n  mov.u32 %r9, %cluster_ctarank;\n"
      "  mul.wide.u32 %q3, %r9, 4096;\n  add.s64 %out, %out, %q3;\n"
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
      "  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;\n"
      "  mad.lo.u32 %r10, %r9, 2048, %r1;\n  shl.b32 %r11, %r9, 4;\n"
      "  @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [%r10], [%map, {64, %r11}], [bar], 3;\n" +
      std::string(kWait) + loop("OUT", 4096, "%out", kWriteOut) +
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
      "  ret;\n}\n";
  form.tensor = tensorOf(F16, {128, 32}, {64, 16}, 3);
  form.hasTensor = true;
  form.input = randomBytes(form.name, tensorBytes(form.tensor));
  form.initialOutput.assign(8192, 0);
  form.blocks = form.cluster = 2;
  forms.push_back(form);
}

} // namespace

void addTensorTileForms(std::vector<TileForm> &forms) {
  addLoads(forms);
  addStores(forms);
  addMulticast(forms);
}

/// Copies without a tensor map: between global and shared memory, within a cluster,
/// and reductions.
void addBulkTileForms(std::vector<TileForm> &forms) {
  auto toShared = [&](unsigned place, unsigned bytes, unsigned from) {
    TileForm form;
    form.name = "cp.async.bulk global to shared " + std::to_string(bytes) + " bytes to " +
                std::to_string(place);
    form.text = head(1024, false) + loop("FILL", 1024, "%out", kFill) +
                "  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n"
                "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n  bar.sync 0;\n"
                "  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
                std::to_string(bytes) +
                ";\n  @%p0 cp.async.bulk.shared::cluster.global."
                "mbarrier::complete_tx::bytes [buf+" +
                std::to_string(place) + "], [%in+" + std::to_string(from) + "], " +
                std::to_string(bytes) + ", [bar];\n" + kWait +
                loop("OUT", 1024, "%out", kWriteOut) + "  ret;\n}\n";
    form.input = randomBytes(form.name, 1024);
    form.initialOutput.assign(1024, 0);
    forms.push_back(form);
  };
  toShared(0, 1024, 0);
  toShared(16, 48, 32);
  auto toGlobal = [&](const std::string &reduction) {
    TileForm form;
    form.name = "cp" + std::string(reduction.empty() ? "" : ".reduce") +
                ".async.bulk shared to global" + reduction;
    form.text = head(512, false) + loop("FILL", 512, "%in", kReadIn) +
                "  fence.proxy.async;\n  bar.sync 0;\n  @%p0 cp" +
                (reduction.empty() ? "" : ".reduce") + ".async.bulk.global.shared::cta.bulk_group" +
                reduction +
                " [%out+16], [buf+32], 352;\n  cp.async.bulk.commit_group;\n"
                "  cp.async.bulk.wait_group.read 0;\n  cp.async.bulk.wait_group 0;\n  ret;\n}\n";
    form.input = randomBytes(form.name, 512);
    form.initialOutput = randomBytes(form.name + " output", 512);
    forms.push_back(form);
  };
  toGlobal("");
  for (const char *op :
       {".add.u32", ".add.s32", ".add.u64", ".add.f32", ".add.f64", ".add.noftz.f16",
        ".add.noftz.bf16", ".min.u32", ".max.s32", ".min.s64", ".max.u64", ".min.f16", ".max.bf16",
        ".inc.u32", ".dec.u32", ".and.b32", ".or.b64", ".xor.b32"})
    toGlobal(op);
  TileForm form;
  form.name = "cp.async.bulk shared to the cluster's";
  form.text =
      head(1024, false) + loop("FILL", 1024, "%in", kReadIn) +
      "  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n  fence.mbarrier_init.release.cluster;\n"
      "  fence.proxy.async;\n  mov.u32 %r9, %cluster_ctarank;\n"
      "  mul.wide.u32 %q3, %r9, 1024;\n  add.s64 %out, %out, %q3;\n  xor.b32 %r10, %r9, 1;\n"
      "  mov.u32 %r11, bar;\n  mapa.shared::cluster.u32 %r12, %r11, %r10;\n"
      "  mapa.shared::cluster.u32 %r13, %r1, %r10;\n"
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
      "  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
      "  @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r13+512], [buf+64], 256, [%r12];\n" +
      std::string(kWait) + loop("OUT", 1024, "%out", kWriteOut) +
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
      "  ret;\n}\n";
  form.input = randomBytes(form.name, 1024);
  form.initialOutput.assign(2048, 0);
  form.blocks = form.cluster = 2;
  forms.push_back(form);
}

//===----------------------------------------------------------------------===//
// Which maps the driver encodes
//===----------------------------------------------------------------------===//

void addMapForms(std::vector<TileForm> &forms) {
  auto map = [&](const std::string &what, TensorSpec tensor) {
    TileForm form;
    form.name = "cuTensorMapEncodeTiled " + what;
    form.hasTensor = true;
    form.tensor = tensor;
    form.input.assign(64, 0);
    form.initialOutput.assign(4, 0);
    forms.push_back(form);
  };
  const TensorSpec plain = tensorOf(F16, {128, 64, 4}, {32, 16, 2});
  auto changed = [&](const std::string &what, auto change) {
    TensorSpec tensor = plain;
    change(tensor);
    map(what, tensor);
  };
  map("plain", plain);
  for (unsigned rank : {0u, 1u, 2u, 6u})
    changed("rank " + std::to_string(rank), [&](TensorSpec &t) { t.rank = rank; });
  for (unsigned type = 0; type < 17; ++type)
    changed("type " + std::to_string(type), [&](TensorSpec &t) { t.type = type; });
  for (unsigned swizzle = 0; swizzle < 8; ++swizzle)
    for (uint32_t inner : {4u, 8u, 16u, 24u, 32u, 64u, 128u, 256u, 257u})
      changed("swizzle " + std::to_string(swizzle) + " inner extent " + std::to_string(inner),
              [&](TensorSpec &t) {
                t.swizzle = swizzle, t.box[0] = inner, t.dims[0] = 512, t.strides[0] = 1024,
                t.strides[1] = 65536;
              });
  for (uint32_t extent : {0u, 1u, 255u, 256u, 257u})
    changed("box " + std::to_string(extent), [&](TensorSpec &t) { t.box[1] = extent; });
  for (uint32_t extent : {1u, 2u, 4u, 8u})
    changed("box of " + std::to_string(extent) + " times 16 KB",
            [&](TensorSpec &t) { t.box[0] = 256, t.box[1] = 32, t.box[2] = extent; });
  for (uint32_t extent : {96u, 112u, 113u, 114u, 116u, 128u, 256u})
    changed("box of " + std::to_string(extent) + " times 2 KB",
            [&](TensorSpec &t) { t.box[0] = 256, t.box[1] = extent, t.box[2] = 4; });
  for (uint32_t stride : {0u, 2u, 7u, 8u, 9u})
    changed("element stride " + std::to_string(stride),
            [&](TensorSpec &t) { t.elementStrides[1] = stride; });
  changed("element stride 2 of the innermost", [](TensorSpec &t) { t.elementStrides[0] = 2; });
  for (uint64_t dim : {uint64_t(0), uint64_t(1), uint64_t(1) << 32, (uint64_t(1) << 32) + 1})
    changed("extent " + std::to_string(dim), [&](TensorSpec &t) { t.dims[1] = dim; });
  for (uint64_t stride : {uint64_t(0), uint64_t(8), uint64_t(16), uint64_t(32), uint64_t(264),
                          (uint64_t(1) << 40) - 16, uint64_t(1) << 40})
    changed("stride " + std::to_string(stride), [&](TensorSpec &t) { t.strides[0] = stride; });
  for (uint64_t offset : {8u, 16u, 32u})
    changed("address " + std::to_string(offset), [&](TensorSpec &t) { t.offset = offset; });
  for (unsigned fill = 0; fill < 3; ++fill)
    for (unsigned type : {U16, I32, F16, F64, TF32})
      changed("fill " + std::to_string(fill) + " type " + std::to_string(type),
              [&](TensorSpec &t) { t.fill = fill, t.type = type; });
  for (unsigned promotion : {1u, 3u, 4u})
    changed("promotion " + std::to_string(promotion),
            [&](TensorSpec &t) { t.promotion = promotion; });
  for (unsigned interleave : {1u, 2u, 3u})
    for (unsigned swizzle : {0u, 1u, 3u})
      for (unsigned rank : {2u, 3u})
        changed(
            "interleave " + std::to_string(interleave) + " swizzle " + std::to_string(swizzle) +
                " rank " + std::to_string(rank),
            [&](TensorSpec &t) { t.interleave = interleave, t.swizzle = swizzle, t.rank = rank; });
}

} // namespace xc::vectors
