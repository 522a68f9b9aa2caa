#===- wgmma_gate.py - What ptxas makes of matrix products on wgmma ------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Compiles products in several tiles, layouts and epilogues with xcompile and ptxas, and checks what came out."""
import argparse
import json
import pathlib
import subprocess
import sys

# Tile, warpgroups, stages, blocks a multiprocessor, split, ping-pong, rows and columns of a cluster.
LARGE = (128, 256, 2, 4, 1, 1, 0)
CASES = [
    ("large", ("bf16", 1, 512, 512, 256, "nn", ""), LARGE),
    ("large_transposed", ("f16", 1, 512, 512, 256, "tt", ""), LARGE),
    ("large_bias_gelu", ("bf16", 1, 512, 512, 256, "nt", "gelu"), LARGE),
    ("large_f32", ("bf16", 1, 500, 513, 256, "nt", "f32"), LARGE),
    ("tall", ("bf16", 1, 512, 512, 256, "nn", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("three_warpgroups", ("bf16", 1, 512, 512, 256, "nn", ""), (192, 192, 3, 4, 1, 1, 0)),
    ("two_blocks", ("bf16", 1, 512, 512, 256, "nn", ""), (64, 128, 1, 4, 2, 1, 0)),
    ("two_blocks_gelu", ("bf16", 1, 512, 512, 256, "nt", "gelu"), (64, 128, 1, 4, 2, 1, 0)),
    ("batched", ("bf16", 3, 200, 136, 72, "nt", ""), (64, 64, 1, 4, 1, 1, 0)),
    ("narrow", ("bf16", 1, 16, 512, 256, "nn", ""), (64, 32, 1, 6, 1, 1, 0)),
    ("split", ("bf16", 1, 64, 128, 2048, "nn", ""), (64, 64, 1, 6, 1, 4, 0)),
    ("ping_pong", ("bf16", 1, 512, 512, 256, "nn", ""), (128, 128, 2, 6, 1, 1, 1)),
    ("tf32_large", ("tf32", 1, 512, 512, 256, "nt", ""), LARGE),
    ("tf32_across", ("tf32", 1, 512, 512, 256, "nn", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("tf32_across_64_rows", ("tf32", 1, 512, 512, 256, "nn", ""), LARGE),
    ("tf32_a_across", ("tf32", 1, 512, 512, 256, "tt", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("tf32_two_blocks", ("tf32", 1, 500, 512, 256, "nn", ""), (128, 64, 2, 3, 2, 1, 0)),
    ("s8_large", ("s8", 1, 512, 512, 256, "nt", ""), LARGE),
    ("s8_across", ("s8", 1, 512, 512, 256, "nn", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("tf32_turned", ("tf32", 1, 512, 512, 256, "tn", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("tf32_turned_wide", ("tf32", 1, 512, 512, 256, "tn", ""), LARGE),
    ("tf32_turned_ragged", ("tf32", 1, 300, 308, 250, "tn", ""), (128, 128, 2, 6, 1, 1, 0)),
    ("s8_turned", ("s8", 1, 512, 512, 256, "tn", ""), (256, 128, 2, 4, 1, 1, 0)),
    ("s8_turned_ragged", ("s8", 1, 304, 320, 250, "tn", ""), (128, 64, 1, 6, 1, 1, 0)),
    ("ping_pong_gelu", ("bf16", 1, 512, 512, 256, "nt", "gelu"), (128, 128, 2, 6, 1, 1, 1)),
    ("fitted", ("bf16", 1, 512, 704, 256, "nn", ""), (128, 176, 2, 5, 1, 1, 0)),
    ("fitted_tall", ("bf16", 1, 512, 704, 256, "nt", "gelu"), (256, 176, 2, 3, 1, 1, 0)),
    ("fitted_ping_pong_f32", ("bf16", 1, 512, 704, 256, "tn", "f32"), (128, 176, 2, 4, 1, 1, 1)),
    ("fitted_split", ("bf16", 1, 128, 448, 2048, "nn", ""), (64, 224, 1, 4, 1, 2, 0)),
    ("fitted_cluster", ("bf16", 1, 512, 704, 256, "nn", ""), (128, 144, 2, 5, 1, 1, 0, 2, 1)),
    ("tf32_fitted", ("tf32", 1, 512, 704, 256, "nt", ""), (256, 144, 2, 4, 1, 1, 0)),
    ("cluster", ("bf16", 1, 512, 512, 256, "nn", ""), (128, 128, 2, 6, 1, 1, 0, 2, 1)),
    ("cluster_ping_pong_gelu", ("bf16", 1, 512, 512, 256, "nt", "gelu"), (128, 128, 2, 6, 1, 1, 1, 1, 2)),
    ("cluster_of_four", ("f16", 1, 504, 504, 256, "tn", ""), (128, 256, 2, 4, 1, 1, 0, 2, 2)),
]


def check(args, folder, name, work, tile, matmul):
    tile_m, tile_n, groups, stages, blocks, split, ping_pong, *cluster = tile
    tile_k = 128 // matmul.BYTES.get(work[0], 2)
    rest = (", ping_pong = 1" if ping_pong else "") + "".join(f", cluster_{side} = {n}" for side, n in zip("mn", cluster) if n > 1)
    config = (f"#cuda.matmul_wgmma<tile_m = {tile_m}, tile_n = {tile_n}, tile_k = {tile_k}, warpgroups = {groups}, stages = {stages}, "
              f"raster = 8, blocks = {blocks}, split = {split}{rest}>")
    base = folder / name
    pathlib.Path(f"{base}.mlir").write_text(matmul.mlir(work))
    pathlib.Path(f"{base}.tuning").write_text(f"{matmul.key(work)} = {config}\n")
    done = subprocess.run(["xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", "--target=cuda:sm_90a", f"--tuning={base}.tuning",
                           f"--ptxas={args.ptxas}"], capture_output=True, text=True)
    if done.returncode or "warning" in done.stderr:
        return done.stderr.strip() or "xcompile failed"
    tables = json.loads(subprocess.run(["xdump", f"{base}.vmfb", "--json"], capture_output=True, text=True, check=True).stdout)
    ptx = subprocess.run(["xdump", f"{base}.vmfb", "--ptx"], capture_output=True, text=True, check=True).stdout
    export = tables["executables"][0]["exports"][0]
    if export["strategy"] != config:
        return f"expected {config}, got {export['strategy']}"
    if export["spill_bytes"] != 0:
        return f"{export['spill_bytes']} bytes of spills"
    expected = 128 // 32 * (tile_m * (1 + ping_pong) // groups // 64)
    found = ptx.count("wgmma.mma_async")
    return "" if found == expected else f"expected {expected} wgmma, got {found}"


# Convolutions as the compiler lays them out by itself: wide, narrow, of few channels, with an epilogue, and few positions.
CONVOLUTIONS = ["bf16_n32_c64_h56_k64_r3", "bf16_n32_c256_h14_k256_r3", "f16_n4_c24_h28_k96_r3_s2", "bf16_n8_c128_h28_k128_r3_fused",
                "bf16_n1_c256_h14_k256_r3", "filter_bf16_n32_c64_h56_k64_r3", "filter_bf16_n32_c256_h14_k256_r3",
                "filter_f16_n4_c24_h28_k96_r3_s2", "filter_bf16_n8_c128_h28_k128_r3_p2_d2"]


def check_convolution(args, folder, name, conv):
    base = folder / name
    work = conv.parse(name)
    pathlib.Path(f"{base}.mlir").write_text(conv.mlir(work))
    done = subprocess.run(["xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", "--target=cuda:sm_90a", f"--ptxas={args.ptxas}",
                           *conv.gradient(work)], capture_output=True, text=True)
    if done.returncode or "warning" in done.stderr:
        return done.stderr.strip() or "xcompile failed"
    tables = json.loads(subprocess.run(["xdump", f"{base}.vmfb", "--json"], capture_output=True, text=True, check=True).stdout)
    ptx = subprocess.run(["xdump", f"{base}.vmfb", "--ptx"], capture_output=True, text=True, check=True).stdout
    for export in (export for executable in tables["executables"] for export in executable["exports"]):
        if export["spill_bytes"] != 0:
            return f"{export['spill_bytes']} bytes of spills in {export['strategy']}"
    kernels = [part for part in ptx.split(".visible .entry")[1:] if work["kind"] == "forward" or part.lstrip().startswith("main_vjp")]
    return "" if any("wgmma.mma_async" in part and ".im2col" in part for part in kernels) else f"expected columns of pixels, got {export['strategy']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--scratch", required=True)
    args = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{args.source}/benchmarks")
    import conv
    import matmul
    folder = pathlib.Path(args.scratch)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, work, tile in CASES:
        problem = check(args, folder, name, work, tile, matmul)
        if problem:
            failed += 1
            print(f"FAIL {name}: {problem}")
    for name in CONVOLUTIONS:
        problem = check_convolution(args, folder, name, conv)
        if problem:
            failed += 1
            print(f"FAIL {name}: {problem}")
    print(f"{failed} failed")


main()
