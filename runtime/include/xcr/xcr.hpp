//===- xcr.hpp - The runtime from C++ -------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handles over the C API of xcr.h, for C++17 and later. Header only:
//
//   xcr::Call call = xcr::Instance::load("model.vmfb").call("main");
//   call.setInput("x", values, {batch, 4});
//   call.run();
//   std::vector<float> y = call.output("y").read<float>();
//
// Conventions:
// - A handle owns one reference, or is empty. It moves and does not copy;
//   share() gives a second one of the same object. get() lends the C handle, so
//   what is not here is one call of the C API away. Functions other than get(),
//   share() of an empty handle, assignment and destruction need one that is not
//   empty.
// - Thread-safety is that of the object in xcr.h: devices, modules, instances,
//   streams and events are thread-safe, a call is one thread's at a time. One
//   handle is a pointer: threads that share an object have a handle each.
// - Errors are exceptions of type xcr::Error, or results. Every function that can
//   fail returns Returns<T>, which is T where exceptions are on, and Result<T>,
//   much like std::expected, where they are off (-fno-exceptions) or where
//   XCR_NO_EXCEPTIONS is defined before this header is included. A program may
//   have files of both kinds.
// - Spans given to a function are read or written before it returns, unless it
//   says that they must stay.
//
//===----------------------------------------------------------------------===//

#ifndef XCR_XCR_HPP
#define XCR_XCR_HPP

#include <xcr/xcr.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(XCR_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define XCR_NO_EXCEPTIONS
#endif
#ifndef XCR_NO_EXCEPTIONS
#include <stdexcept>
#endif

namespace xcr {

//===----------------------------------------------------------------------===//
// Spans and element types
//===----------------------------------------------------------------------===//

/// Elements that somebody else owns; what std::span is in C++20. Converts from
/// arrays, vectors and whatever else has data() and size(), std::span too.
template <typename T> class Span {
  template <typename R>
  using Elements = std::remove_pointer_t<decltype(std::data(std::declval<R &>()))>;

public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T *data, std::size_t size) : first(data), count(size) {}
  template <typename R,
            typename = std::enable_if_t<
                !std::is_same_v<std::decay_t<R>, Span> &&
                std::is_convertible_v<Elements<std::remove_reference_t<R>> (*)[], T (*)[]>>>
  constexpr Span(R &&range) : first(std::data(range)), count(std::size(range)) {}
  /// For arguments: the list lives as long as the expression that it is in.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<value_type> list) : count(list.size()) {
    first = list.begin();
  }

  constexpr T *data() const { return first; }
  constexpr std::size_t size() const { return count; }
  constexpr std::size_t size_bytes() const { return count * sizeof(T); }
  constexpr bool empty() const { return count == 0; }
  constexpr T *begin() const { return first; }
  constexpr T *end() const { return first + count; }
  constexpr T &operator[](std::size_t i) const {
    assert(i < count && "index outside the span");
    return first[i];
  }

private:
  T *first = nullptr;
  std::size_t count = 0;
};

/// Sizes of the dimensions, outermost first.
using Shape = Span<const std::int64_t>;

/// The element type of T. Specialise it for types of your own, such as a half.
template <typename T, typename = void> struct DType;
template <typename T> struct DType<T, std::enable_if_t<std::is_integral_v<T>>> {
  static constexpr xcr_dtype_t value = std::is_same_v<T, bool> ? XCR_DTYPE_I1
                                       : std::is_signed_v<T>   ? (sizeof(T) == 1   ? XCR_DTYPE_I8
                                                                  : sizeof(T) == 2 ? XCR_DTYPE_I16
                                                                  : sizeof(T) == 4 ? XCR_DTYPE_I32
                                                                                   : XCR_DTYPE_I64)
                                                               : (sizeof(T) == 1   ? XCR_DTYPE_U8
                                                                  : sizeof(T) == 2 ? XCR_DTYPE_U16
                                                                  : sizeof(T) == 4 ? XCR_DTYPE_U32
                                                                                   : XCR_DTYPE_U64);
};
template <> struct DType<float> {
  static constexpr xcr_dtype_t value = XCR_DTYPE_F32;
};
template <> struct DType<double> {
  static constexpr xcr_dtype_t value = XCR_DTYPE_F64;
};

/// Whether elements of \p dtype are read and written as T: T's own type, and
/// uint8_t and uint16_t for the bytes of truth values and short floats.
template <typename T> constexpr bool isElement(xcr_dtype_t dtype) {
  if (std::is_same_v<T, std::uint8_t>)
    return dtype == XCR_DTYPE_U8 || dtype == XCR_DTYPE_I1 || dtype == XCR_DTYPE_F8E4M3 ||
           dtype == XCR_DTYPE_F8E5M2;
  if (std::is_same_v<T, std::uint16_t>)
    return dtype == XCR_DTYPE_U16 || dtype == XCR_DTYPE_F16 || dtype == XCR_DTYPE_BF16;
  return dtype == DType<T>::value;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// What went wrong.
class Failure {
public:
  Failure(xcr_status_code_t code, std::string message) : kind(code), text(std::move(message)) {}
  /// Takes over \p status, which is not NULL.
  explicit Failure(xcr_status_t status) : kind(xcr_status_code(status)) {
    xcr_string_view_t message = xcr_status_message(status);
    text.assign(message.data, message.size);
    xcr_status_release(status);
  }

  xcr_status_code_t code() const { return kind; }
  /// One sentence.
  const std::string &message() const { return text; }

private:
  xcr_status_code_t kind;
  std::string text;
};

/// A value, or why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Failure failure) : reason(std::move(failure)) {}

  bool has_value() const { return content.has_value(); }
  explicit operator bool() const { return has_value(); }
  T &operator*() & {
    assert(has_value() && "a result that failed has no value");
    return *content;
  }
  T &&operator*() && {
    assert(has_value() && "a result that failed has no value");
    return std::move(*content);
  }
  T *operator->() { return &**this; }
  /// Of a result without a value.
  const Failure &error() const {
    assert(!has_value() && "a result with a value has no error");
    return *reason;
  }

private:
  std::optional<T> content;
  std::optional<Failure> reason;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Failure failure) : reason(std::move(failure)) {}

  bool has_value() const { return !reason.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Failure &error() const {
    assert(!has_value() && "a result without an error");
    return *reason;
  }

private:
  std::optional<Failure> reason;
};

// What follows differs in the two modes, so that files of both link together.
#ifdef XCR_NO_EXCEPTIONS
inline namespace returning {
template <typename T> using Returns = Result<T>;
#else
inline namespace throwing {
template <typename T> using Returns = T;

/// what() is one sentence.
class Error : public std::runtime_error {
public:
  explicit Error(const Failure &failure)
      : std::runtime_error(failure.message()), kind(failure.code()) {}
  xcr_status_code_t code() const { return kind; }

private:
  xcr_status_code_t kind;
};
#endif

namespace detail {

/// Hands a result to the caller in the way that he chose.
template <typename T> Returns<T> give(Result<T> result) {
#ifdef XCR_NO_EXCEPTIONS
  return result;
#else
  if (!result)
    throw Error(result.error());
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
#endif
}

inline xcr_string_view_t toC(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view toCpp(xcr_string_view_t text) { return {text.data, text.size}; }

inline Result<void> check(xcr_status_t status) {
  return xcr_is_ok(status) ? Result<void>() : Result<void>(Failure(status));
}
/// \p handle is read once \p status is there: it is an out-parameter.
template <typename H, typename T> Result<H> adopt(xcr_status_t status, T *const &handle) {
  if (!xcr_is_ok(status))
    return Failure(status);
  return H(handle);
}

template <typename T, void (*Retain)(T *), void (*Release)(T *)> class Handle {
public:
  Handle() = default;
  /// Takes over a reference of the caller's.
  explicit Handle(T *owned) : object(owned) {}
  Handle(Handle &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Handle() { Release(object); }

  T *get() const { return object; }
  explicit operator bool() const { return object != nullptr; }

protected:
  T *retained() const {
    Retain(object);
    return object;
  }

private:
  T *object = nullptr;
};

} // namespace detail

//===----------------------------------------------------------------------===//
// Devices and modules
//===----------------------------------------------------------------------===//

class Device : public detail::Handle<xcr_device_t, xcr_device_retain, xcr_device_release> {
public:
  using Handle::Handle;
  /// "cpu", "cuda:1", or "auto": see xcr_device_create.
  static Returns<Device> open(std::string_view uri = "auto",
                              const xcr_device_options_t *options = nullptr) {
    xcr_device_t *made = nullptr;
    return detail::give(
        detail::adopt<Device>(xcr_device_create(detail::toC(uri), options, &made), made));
  }
  Device share() const { return Device(retained()); }

  xcr_device_info_t info() const {
    xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
    xcr_device_get_info(get(), &info);
    return info;
  }
  /// One sentence, lent by the device.
  std::string_view description() const { return detail::toCpp(info().description); }
  xcr_device_statistics_t statistics() const {
    xcr_device_statistics_t statistics = XCR_DEVICE_STATISTICS_INIT;
    xcr_device_get_statistics(get(), &statistics);
    return statistics;
  }
  /// Waits for all that was launched on it.
  Returns<void> synchronize() const {
    return detail::give(detail::check(xcr_device_synchronize(get())));
  }
};

class Module : public detail::Handle<xcr_module_t, xcr_module_retain, xcr_module_release> {
public:
  using Handle::Handle;
  /// \p flags: xcr_module_flags_t.
  static Returns<Module> load(std::string_view path, std::uint32_t flags = 0) {
    xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
    options.flags = flags;
    xcr_module_t *made = nullptr;
    return detail::give(
        detail::adopt<Module>(xcr_module_load_file(detail::toC(path), &options, &made), made));
  }
  /// From bytes that stay, unchanged, as long as the module does.
  static Returns<Module> loadMemory(Span<const std::byte> bytes, std::uint32_t flags = 0) {
    xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
    options.flags = flags;
    xcr_module_t *made = nullptr;
    return detail::give(detail::adopt<Module>(
        xcr_module_load_memory(bytes.data(), bytes.size(), &options, nullptr, nullptr, &made),
        made));
  }
  Module share() const { return Module(retained()); }

  xcr_module_info_t info() const {
    xcr_module_info_t info = XCR_MODULE_INFO_INIT;
    xcr_module_get_info(get(), &info);
    return info;
  }
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A typed array in a device's memory.
class Buffer : public detail::Handle<xcr_buffer_t, xcr_buffer_retain, xcr_buffer_release> {
public:
  using Handle::Handle;
  /// Contents are not defined.
  static Returns<Buffer> create(const Device &device, xcr_dtype_t dtype, Shape shape) {
    xcr_buffer_options_t options = describe(dtype, shape);
    xcr_buffer_t *made = nullptr;
    return detail::give(
        detail::adopt<Buffer>(xcr_buffer_create(device.get(), &options, &made), made));
  }
  /// Holds a copy of the elements of \p values, a vector or the like.
  template <typename R>
  static Returns<Buffer> copy(const Device &device, const R &values, Shape shape) {
    return detail::give(makeCopy(device.get(), elements(values), shape));
  }
  /// The memory of \p values itself, which the device must be able to address
  /// and which stays as long as the buffer does.
  template <typename R> static Returns<Buffer> wrap(const Device &device, R &values, Shape shape) {
    auto span = Span<std::remove_pointer_t<decltype(std::data(values))>>(values);
    static_assert(!std::is_const_v<typename decltype(span)::element_type>,
                  "a module may write to what is wrapped");
    xcr_buffer_options_t options =
        describe(DType<typename decltype(span)::value_type>::value, shape);
    xcr_buffer_t *made = nullptr;
    return detail::give(
        detail::adopt<Buffer>(xcr_buffer_wrap(device.get(), &options, span.data(),
                                              span.size_bytes(), nullptr, nullptr, &made),
                              made));
  }
  Buffer share() const { return Buffer(retained()); }
  /// Another shape or type of the same memory, \p offset bytes in.
  Returns<Buffer> view(xcr_dtype_t dtype, Shape shape, std::uint64_t offset = 0) const {
    xcr_buffer_options_t options = describe(dtype, shape);
    xcr_buffer_t *made = nullptr;
    return detail::give(
        detail::adopt<Buffer>(xcr_buffer_view(get(), &options, offset, &made), made));
  }

  xcr_buffer_info_t info() const {
    xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
    xcr_buffer_get_info(get(), &info);
    return info;
  }
  xcr_dtype_t dtype() const { return info().dtype; }
  /// Lent by the buffer.
  Shape shape() const {
    xcr_buffer_info_t now = info();
    return {now.shape, now.rank};
  }
  /// In elements.
  std::uint64_t size() const { return info().element_count; }

  /// All elements. Not ordered with streams: wait first for work that writes to
  /// it. INVALID_ARGUMENT: its elements are no T.
  template <typename T> Returns<std::vector<T>> read() const {
    static_assert(!std::is_same_v<T, bool>, "a vector of bool has no memory; read uint8_t");
    std::vector<T> values(size());
    Result<void> status = readInto(Span<T>(values));
    if (!status)
      return detail::give(Result<std::vector<T>>(status.error()));
    return detail::give(Result<std::vector<T>>(std::move(values)));
  }
  /// As above into \p values, which has room for just the elements.
  template <typename R> Returns<void> readTo(R &&values) const {
    return detail::give(readInto(Span<std::remove_pointer_t<decltype(std::data(values))>>(values)));
  }
  /// Writes all elements; ordered like read().
  template <typename R> Returns<void> write(const R &values) const {
    auto span = elements(values);
    if (Result<void> status = match(span); !status)
      return detail::give(std::move(status));
    return detail::give(detail::check(xcr_buffer_write(get(), 0, span.data(), span.size_bytes())));
  }
  /// The memory itself, without a copy, where the host sees it: on the CPU
  /// device. UNSUPPORTED elsewhere. Ordered like read(); lent by the buffer.
  template <typename T> Returns<Span<T>> span() const {
    xcr_buffer_info_t now = info();
    // Not dereferenced: it is checked for its type and number of elements.
    Span<T> memory(reinterpret_cast<T *>(static_cast<std::uintptr_t>(now.address)),
                   static_cast<std::size_t>(now.element_count));
    if (!now.is_host_visible)
      return detail::give(Result<Span<T>>(Failure(
          XCR_STATUS_UNSUPPORTED, "the host does not see the buffer's memory; read() copies it")));
    if (Result<void> status = match(memory); !status)
      return detail::give(Result<Span<T>>(status.error()));
    return detail::give(Result<Span<T>>(memory));
  }

private:
  friend class Call;
  template <typename R> static auto elements(const R &values) {
    return Span<const std::remove_cv_t<std::remove_pointer_t<decltype(std::data(values))>>>(values);
  }
  static xcr_buffer_options_t describe(xcr_dtype_t dtype, Shape shape) {
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    options.dtype = dtype;
    options.rank = static_cast<std::uint32_t>(shape.size());
    options.shape = shape.data();
    return options;
  }
  template <typename T>
  static Result<Buffer> makeCopy(xcr_device_t *device, Span<const T> values, Shape shape) {
    xcr_buffer_options_t options = describe(DType<T>::value, shape);
    xcr_buffer_t *made = nullptr;
    return detail::adopt<Buffer>(
        xcr_buffer_create_from_host(device, &options, values.data(), values.size_bytes(), &made),
        made);
  }
  /// Whether \p values are the buffer's elements by their type and number.
  template <typename T> Result<void> match(Span<T> values) const {
    using Element = std::remove_cv_t<T>;
    xcr_buffer_info_t now = info();
    std::string type(detail::toCpp(xcr_dtype_name(now.dtype)));
    if (!isElement<Element>(now.dtype))
      return Failure(XCR_STATUS_INVALID_ARGUMENT,
                     "the buffer has elements of type " + type + ", asked for were " +
                         std::string(detail::toCpp(xcr_dtype_name(DType<Element>::value))));
    if (!now.is_contiguous)
      return Failure(XCR_STATUS_INVALID_ARGUMENT, "the buffer is not contiguous");
    if (values.size() != now.element_count)
      return Failure(XCR_STATUS_INVALID_ARGUMENT,
                     "the buffer has " + std::to_string(now.element_count) + " elements, got " +
                         std::to_string(values.size()));
    return {};
  }
  template <typename T> Result<void> readInto(Span<T> values) const {
    if (Result<void> status = match(values); !status)
      return status;
    return detail::check(xcr_buffer_read(get(), 0, values.data(), values.size_bytes()));
  }
};

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

class Event : public detail::Handle<xcr_event_t, xcr_event_retain, xcr_event_release> {
public:
  using Handle::Handle;
  static Returns<Event> create(const Device &device) {
    xcr_event_t *made = nullptr;
    return detail::give(detail::adopt<Event>(xcr_event_create(device.get(), &made), made));
  }
  Event share() const { return Event(retained()); }

  /// Waits for what it records now.
  Returns<void> synchronize() const {
    return detail::give(detail::check(xcr_event_synchronize(get())));
  }
  Returns<bool> isDone() const {
    bool done = false;
    if (xcr_status_t status = xcr_event_query(get(), &done))
      return detail::give(Result<bool>(Failure(status)));
    return detail::give(Result<bool>(done));
  }
};

/// A queue of work. The last handle's end waits for the work.
class Stream : public detail::Handle<xcr_stream_t, xcr_stream_retain, xcr_stream_release> {
public:
  using Handle::Handle;
  /// \p native: a CUstream of the program's own to put work on, or null.
  static Returns<Stream> create(const Device &device, void *native = nullptr) {
    xcr_stream_options_t options = XCR_STREAM_OPTIONS_INIT;
    options.native_stream = native;
    xcr_stream_t *made = nullptr;
    return detail::give(
        detail::adopt<Stream>(xcr_stream_create(device.get(), &options, &made), made));
  }
  Stream share() const { return Stream(retained()); }

  /// Waits for all that is on it, and tells what went wrong there, once.
  Returns<void> synchronize() const {
    return detail::give(detail::check(xcr_stream_synchronize(get())));
  }
  Returns<bool> isDone() const {
    bool done = false;
    if (xcr_status_t status = xcr_stream_query(get(), &done))
      return detail::give(Result<bool>(Failure(status)));
    return detail::give(Result<bool>(done));
  }
  /// Records \p event behind the work on the stream now.
  Returns<void> record(const Event &event) const {
    return detail::give(detail::check(xcr_stream_record(get(), event.get())));
  }
  /// Later work waits for what \p event records now.
  Returns<void> wait(const Event &event) const {
    return detail::give(detail::check(xcr_stream_wait(get(), event.get())));
  }
  /// Calls \p function, of type void(bool failed), behind the work on the stream,
  /// on another thread; see xcr_host_callback_t for what it may do. It must not
  /// throw.
  template <typename F> Returns<void> onDone(F function) const {
    auto call = [](void *data, xcr_status_t status) noexcept {
      std::unique_ptr<F> held(static_cast<F *>(data));
      (*held)(!xcr_is_ok(status));
    };
    auto held = std::make_unique<F>(std::move(function));
    Result<void> status = detail::check(xcr_stream_add_callback(get(), call, held.get()));
    if (status)
      held.release();
    return detail::give(std::move(status));
  }
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A function with what is bound to it. One thread at a time.
class Call : public detail::Handle<xcr_call_t, xcr_call_retain, xcr_call_release> {
public:
  Call() = default;

  /// Binds \p buffer, whose memory may be written again between launches.
  Returns<void> setInput(std::string_view name, const Buffer &buffer) {
    Result<std::uint32_t> input = findInput(name);
    if (!input)
      return detail::give(Result<void>(input.error()));
    return detail::give(detail::check(xcr_call_set_input(get(), *input, buffer.get())));
  }
  /// Binds a copy of the elements of \p values on the call's device. Sizes that
  /// the function leaves open may differ from launch to launch.
  template <typename R>
  Returns<void> setInput(std::string_view name, const R &values, Shape shape) {
    return detail::give(copyInput(name, Buffer::elements(values), shape));
  }
  /// Where the output is written to from the next launch on; else the call has
  /// memory of its own for it.
  Returns<void> setOutput(std::string_view name, const Buffer &buffer) {
    Result<std::uint32_t> output = findOutput(name);
    if (!output)
      return detail::give(Result<void>(output.error()));
    return detail::give(detail::check(xcr_call_set_output(get(), *output, buffer.get())));
  }
  /// What the last launch wrote, or writes. The call's own memory is overwritten by the next.
  Returns<Buffer> output(std::string_view name) const { return detail::give(shareOutput(name)); }
  /// The shape that an output will have for the inputs bound now.
  Returns<std::vector<std::int64_t>> outputShape(std::string_view name) {
    return detail::give(queryShape(name));
  }

  /// Launches and waits; the calling thread works, too, on the CPU device.
  Returns<void> run() { return detail::give(detail::check(xcr_call_run(get()))); }
  /// Launches and returns; what goes wrong later is told by stream.synchronize().
  Returns<void> launch(const Stream &stream) {
    return detail::give(detail::check(xcr_call_launch(get(), stream.get())));
  }
  /// All of a first launch but the launch.
  Returns<void> prepare(const Stream &stream) {
    return detail::give(detail::check(xcr_call_prepare(get(), stream.get())));
  }
  xcr_call_statistics_t statistics() const {
    xcr_call_statistics_t statistics = XCR_CALL_STATISTICS_INIT;
    xcr_call_get_statistics(get(), &statistics);
    return statistics;
  }

private:
  friend class Instance;
  /// \p device: lent by the instance, which the call keeps alive.
  Call(xcr_call_t *owned, xcr_device_t *device) : Handle(owned), device(device) {}

  Result<std::uint32_t> findInput(std::string_view name) const {
    return find(xcr_function_find_input, name);
  }
  Result<std::uint32_t> findOutput(std::string_view name) const {
    return find(xcr_function_find_output, name);
  }
  using Finder = xcr_status_t (*)(const xcr_function_t *, xcr_string_view_t, std::uint32_t *);
  Result<std::uint32_t> find(Finder finder, std::string_view name) const {
    std::uint32_t ordinal = 0;
    if (xcr_status_t status = finder(xcr_call_function(get()), detail::toC(name), &ordinal))
      return Failure(status);
    return ordinal;
  }
  template <typename T>
  Result<void> copyInput(std::string_view name, Span<const T> values, Shape shape) {
    Result<std::uint32_t> input = findInput(name);
    if (!input)
      return input.error();
    Result<Buffer> buffer = Buffer::makeCopy(device, values, shape);
    if (!buffer)
      return buffer.error();
    return detail::check(xcr_call_set_input(get(), *input, buffer->get()));
  }
  Result<Buffer> shareOutput(std::string_view name) const {
    Result<std::uint32_t> output = findOutput(name);
    if (!output)
      return output.error();
    xcr_buffer_t *buffer = xcr_call_output(get(), *output);
    if (!buffer)
      return Failure(XCR_STATUS_FAILED_PRECONDITION,
                     "output '" + std::string(name) + "' is there after the first launch only");
    xcr_buffer_retain(buffer);
    return Buffer(buffer);
  }
  Result<std::vector<std::int64_t>> queryShape(std::string_view name) {
    Result<std::uint32_t> output = findOutput(name);
    if (!output)
      return output.error();
    xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
    xcr_status_t status = xcr_function_get_output(xcr_call_function(get()), *output, &argument);
    std::vector<std::int64_t> shape(argument.rank + 1);
    if (xcr_is_ok(status))
      status = xcr_call_query_output_shape(get(), *output, shape.data());
    if (!xcr_is_ok(status))
      return Failure(status);
    shape.resize(argument.rank);
    return shape;
  }

  xcr_device_t *device = nullptr;
};

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// Where the external parameters of a module are, scope by scope.
class Parameters {
public:
  /// A .npy or .safetensors file.
  Parameters &file(std::string_view scope, std::string_view path) {
    files.push_back({keep(scope), keep(path)});
    return *this;
  }
  /// The bytes of such a file, which stay until the instance has been made.
  Parameters &memory(std::string_view scope, Span<const std::byte> bytes) {
    memories.push_back({keep(scope), bytes.data(), bytes.size()});
    return *this;
  }
  /// Lent.
  xcr_instance_options_t options() const {
    xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
    options.sources = files.data();
    options.source_count = files.size();
    options.memories = memories.data();
    options.memory_count = memories.size();
    return options;
  }

private:
  xcr_string_view_t keep(std::string_view text) {
    return detail::toC(texts.emplace_back(text)); // a deque's elements stay where they are
  }
  std::deque<std::string> texts;
  std::vector<xcr_parameter_source_t> files;
  std::vector<xcr_parameter_memory_t> memories;
};

/// A module on a device, with variables of its own.
class Instance : public detail::Handle<xcr_instance_t, xcr_instance_retain, xcr_instance_release> {
public:
  using Handle::Handle;
  static Returns<Instance> create(const Device &device, const Module &module,
                                  const Parameters &parameters = Parameters()) {
    return detail::give(make(device.get(), module.get(), parameters));
  }
  /// Opens the device and loads the module as well.
  static Returns<Instance> load(std::string_view path, std::string_view device = "auto",
                                const Parameters &parameters = Parameters()) {
    return detail::give(loadFrom(path, device, parameters));
  }
  Instance share() const { return Instance(retained()); }
  Device device() const { return share<Device>(xcr_instance_device(get()), xcr_device_retain); }
  Module module() const { return share<Module>(xcr_instance_module(get()), xcr_module_retain); }

  /// A call of \p function with nothing bound. \p flags: xcr_call_flags_t.
  Returns<Call> call(std::string_view function = "main", std::uint32_t flags = 0) const {
    xcr_call_options_t options = XCR_CALL_OPTIONS_INIT;
    options.flags = flags;
    xcr_call_t *made = nullptr;
    if (xcr_status_t status = xcr_call_create(get(), detail::toC(function), &options, &made))
      return detail::give(Result<Call>(Failure(status)));
    return detail::give(Result<Call>(Call(made, xcr_instance_device(get()))));
  }

  /// The buffer of a variable: reading and writing it changes the variable.
  Returns<Buffer> variable(std::string_view name) const {
    xcr_buffer_t *buffer = nullptr;
    if (xcr_status_t status = xcr_instance_get_variable(get(), detail::toC(name), &buffer))
      return detail::give(Result<Buffer>(Failure(status)));
    xcr_buffer_retain(buffer);
    return detail::give(Result<Buffer>(Buffer(buffer)));
  }
  /// Puts \p buffer in the place of the variable's own.
  Returns<void> setVariable(std::string_view name, const Buffer &buffer) const {
    return detail::give(
        detail::check(xcr_instance_set_variable(get(), detail::toC(name), buffer.get())));
  }
  /// Writes all variables to a .safetensors file, which replaces what was there once it is whole.
  Returns<void> saveVariables(std::string_view path) const {
    return detail::give(detail::check(xcr_instance_save_variables(get(), detail::toC(path))));
  }
  /// Sets all variables from such a file. \p flags: xcr_restore_flags_t.
  Returns<void> restoreVariables(std::string_view path, std::uint32_t flags = 0) const {
    return detail::give(
        detail::check(xcr_instance_restore_variables(get(), detail::toC(path), flags)));
  }

private:
  template <typename H, typename T> static H share(T *lent, void (*retain)(T *)) {
    retain(lent);
    return H(lent);
  }
  static Result<Instance> make(xcr_device_t *device, xcr_module_t *module,
                               const Parameters &parameters) {
    xcr_instance_options_t options = parameters.options();
    xcr_instance_t *made = nullptr;
    return detail::adopt<Instance>(xcr_instance_create(device, module, &options, &made), made);
  }
  static Result<Instance> loadFrom(std::string_view path, std::string_view uri,
                                   const Parameters &parameters) {
    xcr_device_t *device = nullptr;
    xcr_module_t *module = nullptr;
    if (xcr_status_t status = xcr_device_create(detail::toC(uri), nullptr, &device))
      return Failure(status);
    Device heldDevice(device);
    if (xcr_status_t status = xcr_module_load_file(detail::toC(path), nullptr, &module))
      return Failure(status);
    Module heldModule(module);
    return make(device, module, parameters);
  }
};

} // inline namespace
} // namespace xcr

#endif // XCR_XCR_HPP
