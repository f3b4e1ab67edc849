#!/bin/sh
# Build the embedded engine for this very processor and put it into .venv, in place of the prebuilt one, which
# runs on any and so uses nothing that newer ones can do (AVX-512, for instance). Takes a C++ compiler and about
# a quarter of an hour. With PREBUILT=1 the prebuilt one is put back.
set -eu
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
work=$PWD/build/engine
version=$(sed -n 's/^xllamacpp==\([^ ;]*\).*/\1/p' requirements.lock)

prebuilt() { "$python" -m pip install --quiet --no-deps --force-reinstall "xllamacpp==$version"; }

if [ -n "${PREBUILT:-}" ]; then
    prebuilt
    echo "engine: the prebuilt one is back"
    exit
fi

command -v c++ >/dev/null || { echo "engine: no C++ compiler; on Debian or Ubuntu: apt-get install g++" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work"
if ! command -v cmake >/dev/null; then
    "$python" -m pip install --quiet --target "$work/cmake" cmake
    PATH=$work/cmake/cmake/data/bin:$PATH
fi

# What it would fetch from elsewhere is off, and nothing here needs it. AMX is off too: with it this version of
# llama.cpp died of a signal at its first product.
flags="-DGGML_NATIVE=ON -DLLAMA_LLGUIDANCE=OFF -DLLAMA_BUILD_BORINGSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_BUILD_WEBUI=OFF"
case $(uname -m) in
    x86_64 | amd64) flags="$flags -DCMAKE_C_FLAGS=-mno-amx-int8 -DCMAKE_CXX_FLAGS=-mno-amx-int8" ;;
esac

echo "engine: building xllamacpp $version for this processor; see build/engine/log"
if ! CMAKE_ARGS=$flags "$python" -m pip wheel --verbose --no-deps --no-cache-dir --no-binary xllamacpp \
    --wheel-dir "$work" "xllamacpp==$version" >"$work/log" 2>&1; then
    grep -i 'error' "$work/log" | tail -3 >&2 || true
    echo "engine: it cannot be built, and nothing was changed; see build/engine/log" >&2
    exit 1
fi
"$python" -m pip install --quiet --no-deps --force-reinstall "$work"/xllamacpp-*.whl

# One that loads may still die when it works.
if ! "$python" scripts/try_engine.py; then
    prebuilt
    echo "engine: what was built does not work here, so the prebuilt one is back" >&2
    exit 1
fi
