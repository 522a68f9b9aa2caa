// RUN: xc-opt %s -xc-array-decompose=keep=add -verify-diagnostics

// expected-error @+1 {{expected the name of a composite array op to keep, got add}}
module {
}
