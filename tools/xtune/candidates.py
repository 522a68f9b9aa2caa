#===- candidates.py - Layouts of a matrix product worth timing ----------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""What #cuda.matmul_wgmma<...>, #cuda.matmul_mma<...> and #cuda.matmul_fma<...> can be for a product, in the order of a rough
estimate. The compiler's own models are finer (Analysis/); these only have to keep what may be fast."""
import math

# Rows, columns, warpgroups, ping-pong.
TILES = [(128, 256, 2, 0), (256, 128, 2, 0), (192, 192, 3, 0), (128, 192, 2, 0), (192, 128, 3, 0), (128, 128, 2, 0), (128, 128, 1, 0),
         (128, 96, 2, 0), (128, 64, 2, 0), (128, 64, 1, 0), (128, 32, 1, 0), (128, 16, 1, 0), (64, 256, 1, 0), (64, 192, 1, 0),
         (64, 128, 1, 0), (64, 96, 1, 0), (64, 64, 1, 0), (64, 32, 1, 0), (64, 16, 1, 0), (128, 192, 2, 1), (128, 128, 2, 1),
         (128, 96, 2, 1), (64, 256, 2, 1), (64, 128, 2, 1)]

# Blocks that share a tile's sum; rows and columns of blocks that fetch for each other.
CLUSTERS = [(1, 1, 1), (2, 1, 1), (4, 1, 1), (8, 1, 1), (1, 2, 1), (1, 1, 2)]


def consumer_registers(groups, blocks, words=0):
    fetching = 32 if words == 0 else 72 if words <= 32 else words + 48
    launched = min(65536 // (128 * (1 + groups) * blocks) // 8 * 8, 248)
    return max(launched, min((launched * (1 + groups) - fetching) // groups // 8 * 8, 248))


# The most waves of tiles whose number is fitted to the multiprocessors.
FITTED_WAVES = 8


def fitted_tiles(batch, m, n, split, cluster_m, cluster_n, multiprocessors=132):
    """Tiles so wide that no multiprocessor is idle in the last wave, for each number of rows."""
    blocks = split * cluster_m * cluster_n
    room = multiprocessors - (multiprocessors // 11 if blocks >= 4 else 0)
    found = []
    for tile_m, groups, ping_pong in dict.fromkeys((tile_m, groups, ping_pong) for tile_m, _, groups, ping_pong in TILES):
        for waves in range(1, FITTED_WAVES + 1):
            groups_n = waves * (1 + ping_pong) * (room // blocks) // (batch * math.ceil(m / (tile_m * cluster_m)))
            if groups_n:
                unit = 16 * split
                tile_n = math.ceil(math.ceil(n / (groups_n * cluster_n)) / unit) * unit
                if tile_n <= 256:
                    found.append((tile_m, tile_n, groups, ping_pong))
    return found


def fetched_bytes(own, size, k, across, element_bytes, sharers):
    """Bytes of the lines of the cache that a step of an operand's tile lies in; `across` if its rows do not run along k."""
    length, row, count = (own * element_bytes, size * element_bytes, 128 // element_bytes) if across else (128, k * element_bytes, own)
    row_step = math.gcd(row, 128) if row % 16 == 0 else 128
    step, tail = math.gcd(length, row_step), length % 128
    lines = length * (2 - row_step / 128)
    touched = length // 128 * (256 - step) + (128 + max(0, tail - step) if tail else 0)
    return count * (lines / sharers + 0.5 * max(0, touched - lines) * across)


def candidates(batch, m, n, k, layout, most, output_bytes=2, output_ops=0, element_bytes=2, of_pixels=False):
    """Configurations of a product, those that should be fast first; `layout` as in the key of the product. One `of_pixels` is the gradient
    to a filter, whose columns of pixels each block fetches for itself, in lines of 128 bytes."""
    if n == 1 or (m == 1 and layout[1] == "t"):  # reductions
        return []
    # An operand that wgmma cannot read across k is the first factor, and goes through registers; threads turn a second one.
    turned = element_bytes != 2 and layout == "tn"
    if element_bytes != 2 and layout[1] == "n":
        m, n, layout = n, m, "tt"
    across = element_bytes != 2 and layout[0] == "t"
    tile_k = 128 // element_bytes
    found = []
    for split, cluster_m, cluster_n in CLUSTERS:
        for tile_m, tile_n, groups, ping_pong in dict.fromkeys(TILES + fitted_tiles(batch, m, n, split, cluster_m, cluster_n)):
            for blocks in (1, 2) if (tile_m, tile_n, groups, ping_pong) in TILES else (1,):
                # The last line of the second factor may end early.
                ends_early = element_bytes == 2 and tile_n > 32
                whole = all(tile % tile_k == 0 or tile * element_bytes in (32, 64) or early
                            for tile, side, early in ((tile_m, layout[0] == "t", False), (tile_n, layout[1] == "n", ends_early))
                            if side)
                steps = math.ceil(k / tile_k)
                share = math.ceil(steps / split)
                parts = tile_m * (1 + ping_pong) // groups // 64
                sums = parts * tile_n // 2 + (16 * parts if across else 0)
                if across and parts != 2 and (parts != 1 or element_bytes == 1):
                    continue
                if of_pixels and (cluster_m * cluster_n > 1 or tile_n % tile_k):
                    continue
                double = ping_pong and (blocks > 1 or split > 1)
                cluster = cluster_m * cluster_n
                alone = (cluster_m > 1 and m <= tile_m) or (cluster_n > 1 and n <= tile_n) or (cluster > 1 and blocks > 1)
                wasteful = tile_m > 64 and m <= tile_m // 2
                alone |= across and cluster > 1 or (cluster_n > 1 and m == 1) or (cluster_m > 1 and n == 1)
                alone |= turned and (tile_n % (64 if element_bytes == 1 else 32) != 0 or (split > 1 and parts * tile_n > 128))
                registers = sums + (40 if output_bytes == 2 else 48)
                words = tile_n // 4 + (8 if element_bytes == 1 else 0) if turned else 0
                if (not whole or double or wasteful or alone or registers > consumer_registers(groups, blocks, words)
                        or tile_n // 2 + 28 > min(65536 // (128 * (1 + groups) * blocks) // 8 * 8, 248) or tile_n % (8 * split)
                        or (split - 1) * share >= steps):
                    continue
                # Outputs pass through two lines of 128 bytes at a time, or one if that does not divide the tile.
                own, line = tile_n // split * output_bytes, 256
                width = 0 if own % (16 * output_bytes) or across or output_bytes not in (2, 4) else line if own % line == 0 else min(own, line // 2)
                staging = groups * 64 * width
                staging += tile_m * math.ceil(tile_n / 32) * 128 if split > 1 else 0
                room = min(227 * 1024, 228 * 1024 // blocks - 1024) - staging
                columns = math.ceil(tile_n / 64) * 64 if layout[1] == "n" and element_bytes == 2 and tile_n > 32 else tile_n
                stages = min(room // ((tile_m + columns) * 128 + 16), 12, max(2, share + 1))
                tiles = batch * math.ceil(m / tile_m / cluster_m) * math.ceil(n / tile_n / cluster_n) * split * cluster
                if stages < 2 or (split > 1 and tiles > 600):
                    continue
                waves = math.ceil(tiles / 132)
                together = min(blocks, waves)
                active = max(min(tiles, 132) / 132, 0.6)
                fetched = (fetched_bytes(min(tile_m, m), m, k, layout[0] == "t", element_bytes, cluster_n)
                           + fetched_bytes(min(tile_n, n), n, k, layout[1] == "n", element_bytes, cluster_m))
                step = max(tile_m * max(tile_n, 64) / 32, fetched / 47 * active, 3000 / stages / together)
                store = (tile_m * tile_n / split / 20 + 900 + (1750 + 1030 * split + tile_m * tile_n * 0.4 if split > 1 else 0)) / together
                store += tile_m * tile_n * output_ops / 128
                cost = waves * (step * share + store)
                if ping_pong:
                    cost = waves * max(step * share, step * share / 2 + store) + 2 * store
                raster = max(1, round(math.sqrt(132 / cluster * tile_n * cluster_n / tile_m / cluster_m)))
                sides = (("cluster_m", cluster_m), ("cluster_n", cluster_n))
                rest = ", ping_pong = 1" * ping_pong + "".join(f", {name} = {value}" for name, value in sides if value > 1)
                found.append((cost, f"#cuda.matmul_wgmma<tile_m = {tile_m}, tile_n = {tile_n}, tile_k = {tile_k}, warpgroups = {groups}, "
                                    f"stages = {stages}, raster = {raster}, blocks = {blocks}, split = {split}{rest}>"))
    found.sort(key=lambda item: item[0])
    return [config for _, config in found[:most]]


# Rows, columns, step along k, sums of a thread, stages: what Matmul/FMAModel.cpp considers of tiles that are copied, and some beside.
FMA_TILES = [(128, 128, 16, 8, 8, 3), (128, 64, 16, 8, 8, 4), (64, 128, 16, 8, 8, 4), (64, 64, 16, 8, 8, 4), (64, 64, 16, 8, 4, 4),
             (64, 64, 16, 4, 4, 4), (32, 128, 16, 8, 8, 4), (32, 64, 16, 8, 4, 4), (32, 32, 16, 4, 4, 5), (16, 256, 16, 8, 8, 4),
             (16, 128, 16, 8, 4, 5), (8, 256, 16, 8, 4, 4), (8, 128, 16, 4, 4, 5), (128, 128, 8, 8, 8, 4), (128, 256, 8, 16, 8, 3), (128, 256, 16, 16, 8, 3)]
# The same of tiles that pass through registers.
LOADED_FMA_TILES = [(128, 128, 8, 8, 8, 2), (64, 64, 16, 4, 4, 2), (32, 32, 16, 2, 4, 2), (16, 64, 32, 2, 4, 2), (16, 64, 16, 2, 4, 2)]
# Sums shorter than this are not copied ahead of their use.
SHORTEST_COPIED_SUM = 256


def turn(tile):
    """The tile of the product turned around."""
    tile_m, tile_n, tile_k, thread_m, thread_n, stages = tile
    return tile_n, tile_m, tile_k, thread_n, thread_m, stages


def fma_candidates(batch, m, n, k, most, sum_bytes=4, can_copy=True, multiprocessors=132):
    """Configurations of a product on ordinary arithmetic, those that should be fast first: the fewest instructions on the
    busiest multiprocessor, without such tiles as lie outside of the product by half."""
    tiles = FMA_TILES if can_copy and k >= SHORTEST_COPIED_SUM else LOADED_FMA_TILES
    tiles = list(dict.fromkeys(tiles + [turn(tile) for tile in tiles if tile[0] < 64]))
    words = sum_bytes // 4
    found = []
    for tile_m, tile_n, tile_k, thread_m, thread_n, stages in tiles:
        wasteful = (tile_m > 16 and tile_m >= 2 * m) or (tile_n > 16 and tile_n >= 2 * n)
        if wasteful or (words > 1 and thread_m * thread_n > 16):
            continue
        blocks = batch * math.ceil(m / tile_m) * math.ceil(n / tile_n)
        # Products, and the loads of factors that they need.
        work = tile_m * tile_n * (1 + (thread_m + thread_n) / (thread_m * thread_n))
        # A thread's vectors of sums are shared out, where blocks share sums of some steps each.
        vectors = thread_m * thread_n // min(thread_n, 4)
        for split in (1, 2, 4, 8) if stages > 2 and words == 1 else (1,):
            # The sums that blocks exchange have a place of their own; see getSharedBytes and canSplit of Matmul/FMAModel.cpp.
            exchanged = tile_m * tile_n if split > 1 else 0
            fits = (stages * tile_k * (tile_m + tile_n + 8) + exchanged) * sum_bytes <= 227 * 1024
            if not fits or (split > 1 and (vectors % split or k <= (4 * split - 1) * tile_k or blocks * split > 4 * multiprocessors)):
                continue
            # Two stages and one block are what goes without saying, in the compiler's own words too.
            rest = (f", stages = {stages}" if stages > 2 else "") + (f", split = {split}" if split > 1 else "")
            # Blocks that share a tile exchange its sums, which is as much as some products.
            cost = math.ceil(blocks * split / multiprocessors) * work * (1 / split + (32 / k if split > 1 else 0))
            found.append((cost, f"#cuda.matmul_fma<tile_m = {tile_m}, tile_n = {tile_n}, "
                          f"tile_k = {tile_k}, thread_m = {thread_m}, thread_n = {thread_n}{rest}>"))
    found.sort(key=lambda item: item[0])
    return [config for _, config in found[:most]]


# Rows, columns, step along k of 16-bit types, rows and columns of warps, stages, rate beside the first one's.
MMA_TILES = [(128, 256, 64, 2, 4, 3, 1.0), (256, 128, 64, 4, 2, 3, 1.0), (128, 128, 64, 2, 2, 2, 0.96), (128, 128, 32, 2, 2, 4, 0.96),
             (128, 256, 32, 2, 4, 4, 0.98), (128, 128, 64, 2, 4, 3, 0.84), (64, 128, 64, 2, 2, 4, 0.75), (128, 64, 64, 2, 2, 4, 0.75),
             (64, 64, 64, 2, 2, 4, 0.6)]


def mma_candidates(batch, m, n, most, element_bytes=2, multiprocessors=108):
    """Configurations of a product on mma.sync, those that should be fast first, with what shared memory sm_80 has; other
    GPUs may have less."""
    found = []
    for tile_m, tile_n, tile_k, warps_m, warps_n, stages, rate in MMA_TILES:
        blocks = batch * math.ceil(m / tile_m) * math.ceil(n / tile_n)
        found.append((math.ceil(blocks / multiprocessors) * tile_m * tile_n / rate,
                      f"#cuda.matmul_mma<tile_m = {tile_m}, tile_n = {tile_n}, tile_k = {tile_k * 2 // element_bytes}, "
                      f"warps_m = {warps_m}, warps_n = {warps_n}, stages = {stages}>"))
    found.sort(key=lambda item: item[0])
    return [config for _, config in found[:most]]


# Rows, columns, step along k, warps along rows and columns, stages.
DOUBLE_TILES = [(128, 128, 32, 2, 4, 3), (128, 64, 16, 2, 2, 4), (64, 64, 16, 2, 2, 4), (64, 64, 32, 2, 2, 3), (128, 128, 16, 2, 4, 6),
                (128, 64, 32, 4, 2, 4), (64, 32, 32, 2, 2, 4), (32, 64, 32, 2, 2, 4), (32, 32, 32, 2, 2, 4), (64, 32, 64, 4, 2, 3),
                (16, 32, 64, 1, 2, 4), (16, 64, 64, 1, 4, 3)]


def double_candidates(m, n, layout, most):
    """Configurations of a product in f64 on mma.sync, without such as lie outside of it by half; `layout` as in the key of the product."""
    # A warp had better have more of the instructions' first operand, which is B there.
    tiles = [(tile[1], tile[0], tile[2], tile[4], tile[3], tile[5]) for tile in DOUBLE_TILES] if layout == "nn" else DOUBLE_TILES
    return ["#cuda.matmul_mma<tile_m = %d, tile_n = %d, tile_k = %d, warps_m = %d, warps_n = %d, stages = %d>" % tile
            for tile in tiles if tile[0] < 2 * max(m, 16) and tile[1] < 2 * max(n, 16)][:most]
