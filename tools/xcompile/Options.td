//===- Options.td - xcompile's command line ---------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For LLVM's option library (llvm/Option), which sorts them by name for --help. Options.cpp checks values, where there
// is more to say than that one is wrong.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

class F<string name, string help> : Flag<["--"], name>, HelpText<help>;
class J<string name, string meta, string help> : Joined<["--"], name # "=">, MetaVarName<meta>, HelpText<help>;
class Short<string name, string meta, string help> : JoinedOrSeparate<["-"], name>, MetaVarName<meta>, HelpText<help>;

def output : Short<"o", "FILE", "Write the result to FILE (default: the input's name with .vmfb; - is standard output)">;
def target : J<"target", "LIST", "Comma-separated targets: cpu, cpu:ARCH, cuda, cuda:ARCH (default: cpu); cuda alone is this "
                                 "machine's GPU, or sm_80 and sm_90a where there is none">;
def cpu : J<"cpu", "ARCH", "Same as --target=cpu:ARCH for the cpu targets in the list that name none (default: x86-64-v3)">;
def compile_to : J<"compile-to", "PHASE", "Stop after PHASE and write the IR: input, array, linalg, layout, dispatch, codegen, "
                                          "plan, vmfb">;
def emit : J<"emit", "FORM", "What to write: vmfb, mlir (the IR after --compile-to), bytecode (the same as MLIR bytecode)">;
def dump_dir : J<"dump-dir", "DIR", "Write the IR after every phase and each kernel's IR and assembly to DIR">;
def gradient : J<"gradient", "FUNCTION[:INPUTS]", "Add FUNCTION_vjp, the gradient of FUNCTION to its inputs of floats, or to "
                                                  "those that the comma-separated INPUTS name or number">;
def report : F<"report", "Print what became of each kernel; --report=fusion also why ops share kernels and why not, --report=json "
                         "all of it as JSON (to standard error where the result goes to standard output)">;
def report_form : Joined<["--"], "report=">;
def timing : F<"timing", "Print where the time went">;
def progress : J<"progress", "SECONDS", "Say how far it is no more often than that (default: a bar on a terminal after 2 s, a line every "
                                        "10 s elsewhere)">;
def stub_unsupported : F<"stub-unsupported", "ONNX, StableHLO: put zeros in the place of what is not supported, with a warning, to "
                                             "look at the rest">;
def fix_dim : J<"fix-dim", "NAME=SIZE", "ONNX: the symbolic dim NAME of the inputs has this size">;
def fix_input : J<"fix-input", "NAME=NUMBER,...", "ONNX: input NAME is these numbers, known while the module is compiled">;
def external_weights : J<"external-weights", "FILE", "ONNX: write large weights to FILE, a .safetensors file, as parameters of scope "
                                                     "'weights' that the module names and does not hold">;
def weights_type : J<"weights-type", "TYPE", "Hold the f32 weights of products, convolutions and lookups as bf16 or f16, and multiply "
                                             "them in that type, with sums in f32">;
def check_weights : J<"check-weights", "SCOPE=FILE", "Name every external parameter of SCOPE that FILE, a .safetensors file, does "
                                                     "not have, by name, type and shape; write nothing if there is one">;
def opt_level : Joined<["-"], "O">, MetaVarName<"0..3">, HelpText<"Optimisation level (default: 3)">;
def fast_math : F<"fast-math", "Allow approximations, reassociation and flushed denormals">;
def allow_tf32 : F<"allow-tf32", "Multiply f32 matrices on a GPU's tensor cores, which take the first 10 bits of mantissas">;
def no_wgmma : F<"no-wgmma", "CUDA: matrix products on mma.sync or by fused multiply-add, also where there is wgmma">;
def tuning : J<"tuning", "FILE", "CUDA: take the configurations of kernels from FILE, lines of KEY = CONFIG">;
def no_shipped_tuning : F<"no-shipped-tuning", "CUDA: configure products as the model says, also where others were measured for them">;
def ptxas : J<"ptxas", "PATH", "Assemble PTX with this ptxas (default: the one on PATH, if any; off: PTX only)">;
def line_info : F<"line-info", "Put source lines into PTX">;
def no_recognition : F<"no-recognition", "Leave softmax and attention in the small ops that the program writes them in">;
def no_fusion : F<"no-fusion", "Give every op a kernel of its own, to see what each costs">;
def no_reuse : F<"no-reuse", "Let no two temporaries share memory, to find reads of stale values (XCR_TEMPORARIES=separate at run time)">;
def threads : Short<"j", "N", "Compile kernels on N threads (default: all cores)">;
def help : F<"help", "Print this">;
def help_short : Flag<["-"], "h">, Alias<help>;
def version : F<"version", "Print the version">;
