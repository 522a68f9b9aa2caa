"""lit configuration: every .mlir and .test file under test/, run against the tools of one build tree."""
import os
import shutil

import lit.formats

config.name = "xcompile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "e2e", "fuzz", "lit.cfg.py"]
config.test_source_root = os.path.join(config.xc_source_dir, "test")
config.test_exec_root = os.path.join(config.xc_build_dir, "test", "lit")

tools = os.path.join(config.xc_build_dir, "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_bin_dir, os.environ.get("PATH", "")])
config.substitutions.append(("%xc_source", config.xc_source_dir))
config.substitutions.append(("%xc_build", config.xc_build_dir))
config.substitutions.append(("%python", "/usr/bin/python3"))

# ptxas gates what CUDA code generation emits, on machines that have it.
ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
if os.access(ptxas, os.X_OK):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# The CUDA driver's stand-in executes PTX on the CPU.
cuda_sim = os.path.join(config.xc_build_dir, "lib", "libcuda_sim.so")
if os.path.exists(cuda_sim):
    config.available_features.add("cuda-sim")
    config.substitutions.append(("%cuda_sim", cuda_sim))
