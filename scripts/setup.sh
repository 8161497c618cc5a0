#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that lastbit needs; only what is missing, so a second run takes a moment.
#   scripts/setup.sh             what building, testing and fetching checkpoints need (`make setup`)
#   scripts/setup.sh --format    and clang-format (`make format`, `make format-check`)
#   scripts/setup.sh --emulator  and Bochs with what makes a bootable image (`make test-avx512` without AVX-512)
# Needs root or sudo where something is missing. LASTBIT_SKIP_SETUP=1 leaves the machine as it is.
# Exit codes: 0 all there, 2 wrong usage, 4 something is missing and cannot be installed.
set -euo pipefail

packages=(
  g++ cmake ninja-build make pkg-config git ca-certificates
  libssl-dev libfmt-dev nlohmann-json3-dev libcli11-dev  # the program
  libgtest-dev libmpfr-dev                               # the tests
  python3 python3-pip                                    # the checkpoints, the tests of the build
)
for option in "$@"; do
  case "$option" in
    --format) packages+=(clang-format) ;;
    --emulator) packages+=(bochs bochsbios bochs-term vgabios isolinux syslinux-common genisoimage cpio) ;;
    *) echo "setup: unknown option $option (known: --format, --emulator)" >&2; exit 2 ;;
  esac
done

if [[ "${LASTBIT_SKIP_SETUP:-0}" == 1 ]]; then
  echo "setup: skipped (LASTBIT_SKIP_SETUP=1)"
  exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # Not an error: a person may have installed the same by other means, and the configure step names what it lacks.
  echo "setup: this is not Debian or Ubuntu; needed are the equivalents of: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null || true)
  grep -qx installed <<<"$status" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 4
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
apt_get() {
  # The lock may be held for a while by a machine's own updates just after it was started.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt_get update -qq && apt_get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup: apt-get failed (above); needed are: ${missing[*]}" >&2
  exit 4
fi
echo "setup: done"
