// RUN: xc-opt %s -verify-diagnostics -xc-cuda-lower-to-nvvm

// expected-error @below {{expected 'plan.launch'; no strategy emitted this kernel}}
func.func @no_launch() {
  return
}
