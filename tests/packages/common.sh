# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Functions of the tests of packages. The script that reads this file sets $name, and $work, its folder, before it calls finish.

say() { printf '%s: %s\n' "$name" "$*"; }
die() { say "FAILED: $*" >&2 && exit 1; }

need() { # tools...
    local tool
    for tool; do
        command -v "$tool" >/dev/null || { say "skipped, there is no $tool: config/packages.sh package" && exit 77; }
    done
    [ "$(id -u)" = 0 ] || { say "skipped, this needs root" && exit 77; }
}

here= # the process that start_here began
finish() {
    [ -z "$here" ] || kill "$here" 2>/dev/null || true
    wait
    rm -rf "$work"
}

new_root() { # suite, folder, architecture if it is another one: a copy of a Debian that has nothing
    rm -rf "$2"
    cp -a "$(tests/debian.sh "$1" ${3+"$3"})" "$2"
}

# The files that git knows or does not ignore.
copy_tree() { # folder
    git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 --no-run-if-empty ls -d 2>/dev/null |
        tar -c --files-from - | tar -C "$1" -x
}

# In another root, with processes and mounts that end with the command, or after so many seconds. $BIND is mounted at $BIND_TO;
# with AS_NOBODY=1 the command has no rights.
inside() { # seconds, root, command...
    local seconds=$1 root=$2
    shift 2
    # shellcheck disable=SC2016 # for the other shell
    timeout -k 5 "$seconds" unshare --mount --pid --fork --kill-child=KILL bash -c '
        root=$0
        mkdir -p "$root/proc" "$root/dev"
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 1
        if [ -e "$root/etc/resolv.conf" ]; then mount --bind /etc/resolv.conf "$root/etc/resolv.conf"; fi
        if [ -n "${BIND-}" ]; then mount --bind "$BIND" "$root$BIND_TO" || exit 1; fi
        nobody=${AS_NOBODY:+--userspec=65534:65534 --groups=}
        exec env -i HOME=/tmp LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin ${AS_NOBODY:+setpriv --no-new-privs} chroot $nobody "$root" "$@"
        ' "$root" "$@"
}

await() { # port, log
    local end=$((SECONDS + 30))
    until curl -fsS --max-time 5 -o /dev/null "http://127.0.0.1:$1/readyz" 2>/dev/null; do
        [ $SECONDS -lt $end ] || { cat "$2" >&2 && die "nothing is ready on port $1"; }
        sleep 0.1
    done
}

post() { # port, request, file, output
    curl -fsS --max-time 60 --data-binary "@$3" "http://127.0.0.1:$1/$2" -o "$4" || die "port $1 refuses $2 of $3"
}

check_models() { # folder
    local model
    for model in $(awk '!/^#/ { print $3 }' detect/models.txt); do
        [ -f "$1/$model" ] || die "the model $model is missing"
    done
}

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# The daemon of this tree, to compare with. Sets here_port and here.
start_here() { # folder for its log
    here_port=$(free_port)
    build/release/blurd --listen 127.0.0.1 --port "$here_port" --gpus none --log-level error 2>"$1/here.log" &
    here=$!
    await "$here_port" "$1/here.log"
}

# A JPEG and a PNG give the same bytes from both daemons.
compare() { # port, scratch folder
    local picture request
    [ -s "$2/sample.png" ] || post "$here_port" 'rotate?angle=90&format=png' build/sample.jpg "$2/sample.png"
    for picture in build/sample.jpg "$2/sample.png"; do
        for request in 'blur?sigma=8' 'resize?width=200' 'pixelate?block=8&mode=redact&region=10,10,80,60'; do
            post "$here_port" "$request" "$picture" "$2/here"
            post "$1" "$request" "$picture" "$2/there"
            cmp "$2/here" "$2/there" || die "$request of $picture gives other bytes than the build in this tree"
            [ "$(stat -c %s "$2/there")" -gt 1000 ] || die "$request of $picture: that is no picture"
        done
    done
    post "$1" detect build/sample.jpg "$2/faces"
    grep -q '"faces"' "$2/faces" || die "faces are not searched for"
    say "the same bytes as from the build in this tree: three requests, a JPEG and a PNG; faces are searched for"
}

# WebP, AVIF and JPEG XL are written and read, HEIC and TIFF are read, with the libraries of that root.
check_formats() { # port, scratch folder
    local format
    for format in webp avif jxl; do
        post "$1" "blur?sigma=8&format=$format" build/sample.jpg "$2/written"
        post "$1" 'blur?sigma=8&format=png' "$2/written" "$2/again"
    done
    heif-enc -q 80 -o "$2/sample.heic" build/sample.jpg >/dev/null || die "heif-enc makes no HEIC"
    post "$1" 'blur?sigma=8' "$2/sample.heic" "$2/again"
    tests/packages/sample_tiff.sh >"$2/sample.tiff"
    post "$1" 'blur?sigma=8' "$2/sample.tiff" "$2/again"
    say "WebP, AVIF and JPEG XL are written and read, HEIC and TIFF are read"
}

# The daemon that `inside` started in the background: below a shell, timeout and unshare.
daemon_of() { # the process in the background
    local process=$1
    while [ "$(cat "/proc/$process/comm")" != blurd ]; do
        process=$(pgrep -P "$process" | sed -n 1p)
        [ -n "$process" ] || die "no daemon"
    done
    echo "$process"
}

# Ends it: SIGTERM to the daemon, which has to end with 0.
stop() { # the process in the background, log
    kill -TERM "$(daemon_of "$1")"
    wait "$1" || { cat "$2" >&2 && die "SIGTERM: exit status $?"; }
    grep -q drain "$2" || die "no drain in the log"
}
