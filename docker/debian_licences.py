# SPDX-License-Identifier: MIT
"""Reads the licences out of a machine-readable copyright file of Debian (the format 1.0) as an expression of SPDX."""

import re

# Debian's short names in small letters, where SPDX has another name.
NAMES = {
    'expat': 'MIT', 'mit': 'MIT', 'zlib': 'Zlib', 'isc': 'ISC', 'libpng': 'Libpng', 'ntp': 'NTP', 'x11': 'X11',
    'bsd-2-clause': 'BSD-2-Clause', 'bsd-3-clause': 'BSD-3-Clause', 'bsd-4-clause': 'BSD-4-Clause', 'apache-2.0': 'Apache-2.0',
    'cc0-1.0': 'CC0-1.0', 'boost-1.0': 'BSL-1.0', 'mpl-1.1': 'MPL-1.1', 'mpl-2.0': 'MPL-2.0',
}
NUMBERED = re.compile(r'(a?gpl|lgpl|gfdl)-(\d(?:\.\d)?)(\+?)', re.IGNORECASE)


def paragraphs(text):
    """A dictionary for each paragraph, with names of fields in small letters; values keep their lines."""
    for block in re.split(r'\n[ \t]*\n', text):
        fields, name = {}, None
        for line in block.splitlines():
            head = re.match(r'([A-Za-z-]+):(.*)', line)
            if head:
                name = head[1].lower()
                fields[name] = head[2].strip()
            elif name and line[:1] in (' ', '\t'):
                fields[name] += '\n' + line.strip()
        if fields:
            yield fields


def single(name):
    """What SPDX calls the licence of this short name, or None."""
    numbered = NUMBERED.fullmatch(name)
    if numbered:
        family, number, later = numbered.groups()
        number += '' if '.' in number else '.0'
        return f'{family.upper()}-{number}-{"or-later" if later else "only"}'
    return NAMES.get(name.lower())


class Copyright:
    """The licences of one package. `texts` has those that SPDX does not know: {identifier: text}."""

    def __init__(self, package, text):
        self.package = package
        self.texts = {}
        all_fields = list(paragraphs(text)) if text.startswith('Format:') else []
        self.known_texts = {self.short(fields): fields['license'] for fields in all_fields
                            if 'license' in fields and '\n' in fields['license']}
        names = {self.short(fields) for fields in all_fields if self.counts(fields)}
        terms = sorted({term for name in names if name for term in self.expression(name).split(' AND ')})
        self.declared = ' AND '.join(f'({term})' if ' OR ' in term and len(terms) > 1 else term for term in terms) or 'NOASSERTION'

    @staticmethod
    def short(fields):
        return fields['license'].split('\n')[0].strip()

    @staticmethod
    def counts(fields):
        """Debian's own files are not in the package that is linked."""
        patterns = fields.get('files', '').split()
        return 'license' in fields and any(not pattern.startswith('debian/') for pattern in patterns)

    def expression(self, name):
        """Debian's `GPL-2+ or LGPL-3+` and the like; an expression with both `and` and `or` counts as one licence."""
        for word in 'or', 'and':
            other = ' and ' if word == 'or' else ' or '
            parts = re.split(rf',? {word} ', name, flags=re.IGNORECASE)
            if len(parts) > 1 and other not in name.lower():
                return f' {word.upper()} '.join(sorted({self.identifier(part.strip()) for part in parts}))
        return self.identifier(name)

    def identifier(self, name):
        found = single(name)
        if found:
            return found
        made = 'LicenseRef-' + re.sub(r'[^A-Za-z0-9.]+', '-', f'{self.package}-{name}').strip('-')
        self.texts[made] = self.known_texts.get(name, f'{name}: see the copyright file of the package {self.package}')
        return made
