#!/bin/bash
# SPDX-License-Identifier: MIT
# Joins the files beside this one to the page that the daemon serves.
#
#     server/pages/playground/join.sh FOLDER
#
# FOLDER gets page.html, page.html.gz, policy.txt (its Content-Security-Policy) and tag.txt
# (for its ETag). Lines of index.html that are nothing but `<!-- include: NAME... -->` are
# replaced by these files, and "@formats" in parameters.json by the formats. The scripts are
# modules, for editors and tools; joined they are one, in which nothing needs to be imported or
# exported.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")"
out=$(cd "$OLDPWD" && mkdir -p "$1" && cd "$1" && pwd)

style() { cat style.css; }
script() { # imports and exports are one line each
    sed -e '/^import /d' -e 's/^export //' "$@"
}
formats() { # those of codecs/formats.def: name, title, and whether it is written, as JSON
    sed -nE 's/^((READ_)?)FORMAT\(\w+, (\w+).*/\3 \1/p' ../../../codecs/formats.def | while read -r name reads; do
        title=$(sed -nE 's/^ *\.title = (".*"),$/\1/p' "../../../codecs/$name/$name.c")
        printf '{"name": "%s", "title": %s, "written": %s}\n' "$name" "$title" "$([ "$reads" ] && echo false || echo true)"
    done | paste -sd,
}
hash_of() { # as Content-Security-Policy writes it
    sha256sum | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64
}

# The browser hashes what stands between the tags, line ends included.
policy="default-src 'none'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
while IFS= read -r line; do
    case $line in
    '<!-- include: style.css -->')
        policy+="; style-src 'sha256-$(style | hash_of)'"
        echo -n '<style>' && style && echo '</style>'
        ;;
    '<!-- include: parameters.json -->')
        echo '<script type="application/json" id="table">' && sed "s|\"@formats\"|[$(formats)]|" parameters.json && echo '</script>'
        ;;
    '<!-- include: '*.js' -->')
        read -ra names <<<"${line//@(<!-- include:|-->)/}"
        policy+="; script-src 'sha256-$(script "${names[@]}" | hash_of)'"
        echo -n '<script type="module">' && script "${names[@]}" && echo '</script>'
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <index.html >"$out/page.html.new"

gzip -9nc "$out/page.html.new" >"$out/page.html.gz"
printf '%s' "$policy" >"$out/policy.txt"
sha256sum <"$out/page.html.new" | head -c 20 >"$out/tag.txt"
mv "$out/page.html.new" "$out/page.html"
