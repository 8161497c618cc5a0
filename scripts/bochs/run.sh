#!/usr/bin/env bash
# Runs programs in a small Linux inside Bochs, on an emulated Skylake-X: AVX-512 F, CD, BW, DQ, VL, no VNNI.
#   scripts/bochs/run.sh FOLDER "PROGRAM [ARGUMENT...]"...
# Bochs interprets every instruction, some 100 times slower than the machine it runs on; the boot takes half a minute.
# The programs are the ones given, with the shared libraries of this machine. In the environment:
#   EMULATED_ENVIRONMENT  lines NAME=value for them
#   EMULATED_SECONDS      limit of the whole run (default 1800)
#   EMULATED_KERNEL       a Linux kernel image; without it that of the distribution is downloaded, once, into FOLDER
# Prints what the programs wrote, as it comes, and leaves it in FOLDER/serial.txt. Exit code 0: the machine ran to its
# end (the line "init: all done"); what the programs gave is for the caller to read. 4: it did not.
# Needs the packages of `scripts/setup.sh --emulator`.
set -euo pipefail

folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
limit=${EMULATED_SECONDS:-1800}

fetch_kernel() {
  [[ -f "$folder/vmlinuz" ]] && return
  if [[ -n "${EMULATED_KERNEL:-}" ]]; then
    cp "$EMULATED_KERNEL" "$folder/vmlinuz"
    return
  fi
  # The metapackage of Debian, then that of Ubuntu; each depends on the package of the image.
  local meta package download
  for meta in linux-image-cloud-amd64 linux-image-virtual; do
    package=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [[ -n "$package" ]] && break
  done
  if [[ -z "$package" ]]; then
    echo "bochs: apt knows no Linux kernel package (apt-get update?); or set EMULATED_KERNEL to a kernel image" >&2
    exit 4
  fi
  download=$folder/download
  rm -rf "$download"
  mkdir -p "$download"
  echo "bochs: downloading $package"
  if ! (cd "$download" && apt-get download -qq "$package") >"$folder/download.log" 2>&1; then
    cat "$folder/download.log" >&2
    echo "bochs: cannot download $package; or set EMULATED_KERNEL to a kernel image" >&2
    exit 4
  fi
  dpkg-deb -x "$download"/*.deb "$download/content"
  cp "$download"/content/boot/vmlinuz-* "$folder/vmlinuz"
  rm -rf "$download"
}

# The initial file system: init, the programs without their debug information, the libraries that they load, in the
# places where the loader looks for them.
make_initial_file_system() {
  local root=$folder/root command library words program
  rm -rf "$root"
  mkdir -p "$root/tests"
  cc -static -O2 -Wall -Wextra "$here/init.c" -o "$root/init"
  for command in "$@"; do
    read -r -a words <<<"$command"
    program=$(basename "${words[0]}")
    strip --strip-all -o "$root/tests/$program" "${words[0]}"
    ldd "${words[0]}" | grep -o '/[^ ]*' | sort -u
    words[0]=/tests/$program
    echo "${words[*]}" >>"$root/tests/list"
  done >"$folder/libraries"
  sort -u "$folder/libraries" | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp --dereference "$library" "$root$library"
  done
  printf '%s\n' "${EMULATED_ENVIRONMENT:-}" >"$root/tests/environment"
  mkdir -p "$folder/iso/isolinux"
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$folder/iso/isolinux/initrd.gz"
}

make_disk() {
  cp "$folder/vmlinuz" "$folder/iso/isolinux/vmlinuz"
  cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$folder/iso/isolinux/"
  # clearcpuid=323,321: current kernels otherwise leave XSAVE, and with it AVX, off on this emulated processor.
  # tsc, lpj: nothing is calibrated against a clock that runs 100 times too slowly.
  cat >"$folder/iso/isolinux/isolinux.cfg" <<'CFG'
default lastbit
prompt 0
timeout 0
label lastbit
 kernel vmlinuz
 append initrd=initrd.gz console=ttyS0 nokaslr mitigations=off tsc=reliable lpj=1000000 clearcpuid=323,321 quiet
CFG
  genisoimage -quiet -o "$folder/disk.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot \
    -boot-load-size 4 -boot-info-table "$folder/iso"
}

configure_bochs() {
  cat >"$folder/bochsrc" <<CFG
megs: 1024
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1
ata0-master: type=cdrom, path=$folder/disk.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$folder/serial.txt
display_library: $1
log: $folder/bochs.log
panic: action=fatal
clock: sync=none
CFG
  echo continue >"$folder/debugger_commands"  # Debian's Bochs starts in its debugger
}

fetch_kernel
make_initial_file_system "$@"
make_disk
configure_bochs 'rfb, options="timeout=0"'
: >"$folder/serial.txt"
timeout --kill-after=10 "$limit" nice -n 19 bochs -q -f "$folder/bochsrc" -rc "$folder/debugger_commands" \
  >"$folder/bochs.out" 2>&1 </dev/null &
emulator=$!
trap 'kill "$emulator" 2>/dev/null || true' EXIT
tail --quiet --follow --sleep-interval=1 --pid="$emulator" --lines=+1 "$folder/serial.txt" 2>/dev/null |
  sed --unbuffered 's/\r$//' || true
wait "$emulator" || true  # Bochs calls the power-off a panic: the serial console says how the run ended
if ! grep -q '^init: all done' "$folder/serial.txt"; then
  echo "bochs: the emulated machine did not run to its end within $limit s; see $folder/bochs.out and bochs.log" >&2
  exit 4
fi
