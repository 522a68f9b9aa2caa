#!/usr/bin/env bash
# Builds the documentation site from the pages of the repository: build/docs-site/html/index.html. A broken link, and a
# page that is not in docs/site/mkdocs.yml, are errors.
#
#   scripts/docs-site.sh            builds it
#   scripts/docs-site.sh --serve    builds it and serves it at http://localhost:8000
#
# mkdocs comes from PyPI into build/docs-site/venv, in the versions of docs/site/requirements.txt. Exit code 3: it could
# not be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$PWD/build/docs-site
venv=$site/venv
wanted=docs/site/requirements.txt

if [ "${1:-}" != "" ] && [ "$1" != --serve ]; then
  echo "docs-site.sh: unknown option '$1'; known is --serve" >&2
  exit 2
fi

if ! cmp -s "$wanted" "$venv/installed.txt"; then
  mkdir -p "$site"
  if ! /usr/bin/python3 -c 'import ensurepip' 2> /dev/null; then
    echo "docs-site.sh: python3 has no ensurepip: install the package python3-venv" >&2
    exit 1
  fi
  /usr/bin/python3 -m venv --clear "$venv"
  if ! "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$wanted"; then
    echo "docs-site.sh: the packages of $wanted could not be installed" >&2
    exit 3
  fi
  cp "$wanted" "$venv/installed.txt"
fi

# The pages lie as in the repository, so that their links are the same; so do the other files that they link to.
rm -rf "$site/source"
mkdir -p "$site/source"
/usr/bin/python3 - "$site/source" << 'END'
import pathlib, re, shutil, subprocess, sys
names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True).stdout
known = {name for name in names.split("\0") if name and pathlib.Path(name).is_file()}
wanted = [name for name in known if name.endswith((".md", ".svg")) and name.startswith(("README.md", "docs/", "benchmarks/results/"))]
copied = set()
while wanted:
    name = wanted.pop()
    if name in copied:
        continue
    copied.add(name)
    target = pathlib.Path(sys.argv[1], name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(name, target)
    for link in re.findall(r"\]\(([^)\s#]+)", pathlib.Path(name).read_text()) if name.endswith(".md") else []:
        path = (pathlib.Path(name).parent / link).resolve()
        if path.is_relative_to(pathlib.Path.cwd()) and (file := str(path.relative_to(pathlib.Path.cwd()))) in known:
            wanted.append(file)
END
cp docs/site/mkdocs.yml "$site/mkdocs.yml"
"$venv/bin/mkdocs" build --quiet --strict --clean -f "$site/mkdocs.yml"
echo "docs-site.sh: $(find "$site/html" -name '*.html' | wc -l) pages in build/docs-site/html"
if [ "${1:-}" = --serve ]; then
  exec "$venv/bin/python" -m http.server --directory "$site/html" 8000
fi
