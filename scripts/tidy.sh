#!/usr/bin/env bash
# Runs clang-tidy over the runtime, its tools and the Python package, or over the files given.
# usage: tidy.sh BUILD_TREE [FILE...]
# The last line is "N passed, N failed, 0 skipped", one for each source file.
cd "$(dirname "$0")/.."
tree=${1:?usage: tidy.sh BUILD_TREE [FILE...]}
shift
/usr/bin/python3 scripts/compile-commands.py "$tree" "$tree/tidy" || exit 1
export tree
list_files() {
  if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
  else
    git ls-files 'runtime/*.cpp' 'tools/common/*.cpp' 'tools/xrun/*.cpp' 'tools/xbench/*.cpp' 'tools/xdump/*.cpp' 'python/src/*.cpp'
  fi
}
passed=0 failed=0
while read -r status file; do
  if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "failed: $file"; fi
done < <(list_files "$@" |
  xargs -P "$(nproc)" -I{} bash -c 'clang-tidy-22 -p "$tree/tidy" --quiet {} >> "$tree/tidy.$$.log" 2>&1; echo "$? {}"')
cat "$tree"/tidy.*.log 2> /dev/null | grep -E 'error:' | sort -u
rm -f "$tree"/tidy.*.log
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
