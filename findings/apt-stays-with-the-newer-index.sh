#!/bin/bash
# SPDX-License-Identifier: MIT
# apt 2.6.1 (Debian 12): a repository that goes back to an earlier release is not followed, and nothing says so. apt keeps the index whose Release
# file has the later Date, throws away the one that it has just fetched, prints the lines of a usual update and ends with 0. From then on
# it offers what the repository has no more: the package of the earlier release stands there, correct and alone, and `apt-get install` fails
# for want of the file of the later one. A host that has never seen the later release installs the earlier one without a word. Who takes a
# release back by putting the old folder in place has two kinds of hosts, and finds it out by the error of a download. apt 3.0.4 (Debian 13) follows such a repository, which is trusted without a signature here.
# It takes Debian's apt-get and dpkg-deb as they are installed, and a state folder of its own; nothing is fetched from elsewhere. Ends with 77 where apt is
# not 2.6.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export LC_ALL=C

publish() { # version, date: the repository has that package alone
    rm -rf repo && mkdir -p repo/dists/any/main/binary-all repo/pool package/DEBIAN
    printf 'Package: demo\nVersion: %s\nArchitecture: all\nMaintainer: A\nDescription: demo\n' "$1" >package/DEBIAN/control
    dpkg-deb --root-owner-group -b package "repo/pool/demo_$1.deb" >/dev/null
    local index=repo/dists/any/main/binary-all/Packages
    { cat package/DEBIAN/control && printf 'Filename: pool/demo_%s.deb\nSize: %s\nSHA256: %s\n' "$1" "$(stat -c %s "repo/pool/demo_$1.deb")" \
        "$(sha256sum "repo/pool/demo_$1.deb" | cut -d ' ' -f 1)"; } >$index
    printf 'Suite: any\nCodename: any\nDate: %s\nArchitectures: all\nComponents: main\nSHA256:\n %s %s main/binary-all/Packages\n' "$2" \
        "$(sha256sum $index | cut -d ' ' -f 1)" "$(stat -c %s $index)" >repo/dists/any/Release
}

host() { # name: a state folder, and apt's configuration for it
    mkdir -p "$1/lists/partial" "$1/archives/partial"
    touch "$1/status"
    echo "deb [trusted=yes] file:$folder/repo any main" >"$1/sources.list"
    cat >"$1/apt.conf" <<CONF
Dir::State "$folder/$1"; Dir::State::status "$folder/$1/status"; Dir::Cache "$folder/$1"; Dir::Etc::SourceList "$folder/$1/sources.list";
Dir::Etc::SourceParts "-"; Dir::Etc::Preferences "-"; Dir::Etc::PreferencesParts "-"; APT::Sandbox::User "root";
CONF
}

update() { # host: prints its output and exit status
    local status=0
    APT_CONFIG=$folder/$1/apt.conf apt-get update >"$1/log" 2>&1 || status=$?
    printf '%s: update ends with %s, %s warnings or errors, offers %s\n' "$1" $status "$(grep -c '^[WE]:' "$1/log" || true)" \
        "$(APT_CONFIG=$folder/$1/apt.conf apt-cache policy demo 2>/dev/null | sed -n 's/^  Candidate: //p')"
}

apt-get --version | head -n 1
case $(apt-get --version | head -n 1) in
*' 2.6.'*) ;;
*) exit 77 ;;
esac
host early
host late
publish 2 'Tue, 02 Jun 2026 00:00:00 UTC'
{
    update early
    publish 1 'Mon, 01 Jun 2026 00:00:00 UTC' # the repository goes back
    update early
    update late
    APT_CONFIG=$folder/early/apt.conf apt-get install --yes --download-only demo 2>&1 | sed -n 's|^E: Failed to fetch .*/\(demo[^ ]*\) .*|early: install fails, there is no \1|p'
} | tee seen
cat >wanted <<'TEXT'
early: update ends with 0, 0 warnings or errors, offers 2
early: update ends with 0, 0 warnings or errors, offers 2
late: update ends with 0, 0 warnings or errors, offers 1
early: install fails, there is no demo_2.deb
TEXT
diff wanted seen
