//===- portable_libc.cpp - libxcr.so on older systems ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A library that is linked on a new system asks for the newest version of each function of the C
// library, though the oldest does the same. What is defined here calls the oldest, so that the
// shared library loads from glibc 2.28 on. It also defines the little that -fno-exceptions code
// needs of the C++ runtime, whose static library asks for glibc 2.35.
//
// Part of the shared library for x86-64 Linux only. Programs that link the static library have a C
// library and a C++ runtime of their own.
//
//===----------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <sys/stat.h>

// NOLINTBEGIN: names that the C library and the C++ ABI give.

//===----------------------------------------------------------------------===//
// The C library
//===----------------------------------------------------------------------===//

// OLD(dlopen, "GLIBC_2.2.5", ...) declares xcrOldDlopen as the function of that version.
#define XCR_OLD(result, name, version, parameters)                                                 \
  extern "C" result xcr_old_##name parameters;                                                     \
  __asm__(".symver xcr_old_" #name "," #name "@" version)

// Until glibc 2.34 in libdl.so.2 and libpthread.so.0, which the library therefore still needs.
XCR_OLD(void *, dlopen, "GLIBC_2.2.5", (const char *, int));
XCR_OLD(void *, dlsym, "GLIBC_2.2.5", (void *, const char *));
XCR_OLD(int, dlclose, "GLIBC_2.2.5", (void *));
XCR_OLD(char *, dlerror, "GLIBC_2.2.5", (void));
XCR_OLD(int, pthread_create, "GLIBC_2.2.5",
        (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
XCR_OLD(int, pthread_join, "GLIBC_2.2.5", (pthread_t, void **));
XCR_OLD(int, pthread_detach, "GLIBC_2.2.5", (pthread_t));
XCR_OLD(int, pthread_sigmask, "GLIBC_2.2.5", (int, const sigset_t *, sigset_t *));
XCR_OLD(int, pthread_setname_np, "GLIBC_2.12", (pthread_t, const char *));
XCR_OLD(int, pthread_attr_setstacksize, "GLIBC_2.2.5", (pthread_attr_t *, size_t));
// Until glibc 2.33 these were inline functions around calls with a version of the structure.
XCR_OLD(int, __xstat, "GLIBC_2.2.5", (int, const char *, struct stat *));
XCR_OLD(int, __fxstat, "GLIBC_2.2.5", (int, int, struct stat *));

#define XCR_LOCAL __attribute__((visibility("hidden")))
static constexpr int kStatVersion = 1;

extern "C" {
XCR_LOCAL void *dlopen(const char *path, int flags) noexcept { return xcr_old_dlopen(path, flags); }
XCR_LOCAL void *dlsym(void *library, const char *name) noexcept {
  return xcr_old_dlsym(library, name);
}
XCR_LOCAL int dlclose(void *library) noexcept { return xcr_old_dlclose(library); }
XCR_LOCAL char *dlerror() noexcept { return xcr_old_dlerror(); }

XCR_LOCAL int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*run)(void *), void *argument) noexcept {
  return xcr_old_pthread_create(thread, attributes, run, argument);
}
XCR_LOCAL int pthread_join(pthread_t thread, void **result) {
  return xcr_old_pthread_join(thread, result);
}
XCR_LOCAL int pthread_detach(pthread_t thread) noexcept { return xcr_old_pthread_detach(thread); }
XCR_LOCAL int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) noexcept {
  return xcr_old_pthread_sigmask(how, set, old);
}
XCR_LOCAL int pthread_setname_np(pthread_t thread, const char *name) noexcept {
  return xcr_old_pthread_setname_np(thread, name);
}
XCR_LOCAL int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) noexcept {
  return xcr_old_pthread_attr_setstacksize(attributes, size);
}
XCR_LOCAL int stat(const char *path, struct stat *out) noexcept {
  return xcr_old___xstat(kStatVersion, path, out);
}
XCR_LOCAL int fstat(int file, struct stat *out) noexcept {
  return xcr_old___fxstat(kStatVersion, file, out);
}
} // extern "C"

//===----------------------------------------------------------------------===//
// The C++ runtime
//===----------------------------------------------------------------------===//

static pthread_mutex_t guardMutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t guardChanged = PTHREAD_COND_INITIALIZER;

namespace {
/// What the ABI says of the guard of a static variable in a function: its first byte is 1 once the
/// variable has been made. The second is ours: some thread is making it.
struct Guard {
  uint8_t isDone, isBusy;
};
} // namespace

extern "C" {
XCR_LOCAL int __cxa_guard_acquire(Guard *guard) {
  pthread_mutex_lock(&guardMutex);
  while (!guard->isDone && guard->isBusy)
    pthread_cond_wait(&guardChanged, &guardMutex);
  const bool isOurs = !guard->isDone;
  guard->isBusy = isOurs;
  pthread_mutex_unlock(&guardMutex);
  return isOurs;
}
XCR_LOCAL void __cxa_guard_release(Guard *guard) {
  pthread_mutex_lock(&guardMutex);
  __atomic_store_n(&guard->isDone, 1, __ATOMIC_RELEASE);
  guard->isBusy = 0;
  pthread_cond_broadcast(&guardChanged);
  pthread_mutex_unlock(&guardMutex);
}
/// A call of a function that no class has defined yet: a broken invariant.
XCR_LOCAL void __cxa_pure_virtual() { __builtin_trap(); }
} // extern "C"

/// For deleting destructors, which the library never calls: its objects go back to the caller's
/// allocator.
void operator delete(void *pointer, size_t) noexcept { free(pointer); }

// NOLINTEND
