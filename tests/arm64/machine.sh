# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Functions that boot a machine for 64-bit ARM, all of which QEMU emulates: with Debian's kernel, and all files in memory. The script
# that reads this file sets $work, a folder of its own, and has say and die of tests/packages/common.sh.

machine=$PWD/build/arm64/machine
emulator= # its process
console= # the file with what it writes

# In the order in which they need each other.
modules='drivers/virtio/virtio_ring drivers/virtio/virtio drivers/virtio/virtio_pci_legacy_dev drivers/virtio/virtio_pci_modern_dev
    drivers/virtio/virtio_pci net/core/failover drivers/net/net_failover drivers/net/virtio_net'

# The script is run by the first process with what busybox has, in a root that has IMAGE at /image. Its standard input are the lines
# that tell_machine writes, its output is $console. With a port, the machine's port 8080 is that of this host; it reaches nothing.
boot_machine() { # image, script, megabytes of memory, port
    local first=$work/first kernel module names=''
    console=$work/console.log
    tests/arm64/unpack.sh "$machine" linux-image-cloud-arm64 busybox-static
    kernel=$(compgen -G "$machine/boot/vmlinuz-*")
    rm -rf "$first" && mkdir -p "$first"/{bin,modules,proc,sys,dev,image}
    cp "$(readlink -f "$machine/bin/busybox" || echo "$machine/usr/bin/busybox")" "$first/bin/busybox"
    for module in $modules; do
        unpack_module "$machine/lib/modules/${kernel#*/vmlinuz-}/kernel/$module.ko" >"$first/modules/${module##*/}.ko" && names+=" ${module##*/}"
    done
    {
        echo '#!/bin/busybox sh'
        echo 'export PATH=/bin && /bin/busybox --install -s /bin'
        echo 'mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev'
        echo "for module in$names; do insmod /modules/\$module.ko; done"
        echo 'ip link set lo up && ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0'
        cat "$2"
        echo 'poweroff -f'
    } >"$first/init"
    chmod +x "$first/init"
    cp -a "$1/." "$first/image/"
    (cd "$first" && find . | LC_ALL=C sort | cpio -o -H newc --quiet | gzip -1) >"$work/first.gz"
    rm -rf "$first"
    rm -f "$work/lines" && mkfifo "$work/lines"
    qemu-system-aarch64 -M virt -cpu neoverse-n1 -smp "$(nproc)" -m "$3" -nodefaults -display none -serial stdio -no-reboot \
        -kernel "$kernel" -initrd "$work/first.gz" -append 'console=ttyAMA0 quiet panic=-1' \
        ${4:+-netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$4-:8080" -device "virtio-net-pci,netdev=net,romfile="} \
        <"$work/lines" >"$console" 2>&1 &
    emulator=$!
    exec 7>"$work/lines"
}

# Debian 13 packs modules, and has some in the kernel.
unpack_module() { # path
    if [ -e "$1" ]; then cat "$1"; else [ -e "$1.xz" ] && xz --stdout --decompress "$1.xz"; fi
}

tell_machine() { echo "$*" >&7; }

end_machine() {
    [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
    [ -z "$emulator" ] || wait "$emulator" || true
    emulator=
}
