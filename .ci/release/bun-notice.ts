import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchPackage } from '../commands.ts';
import { bunVersion } from './runtime.ts';

/** What the runtime inside an executable is under, by the LICENSE.md of its repository: its package brings no licence file. */
const notice = `bun ${bunVersion}

The executable contains the runtime bun (https://bun.sh), which is under the MIT licence. All that bun links statically, with
its licences: https://github.com/oven-sh/bun/blob/bun-v${bunVersion}/LICENSE.md

Under the LGPL: JavaScriptCore and parts of WebKit (LGPL 2), TinyCC (LGPL 2.1). Their source, as bun has it, is at
https://github.com/oven-sh/WebKit and https://github.com/oven-sh/tinycc. You may change them and link bun anew as its
repository describes; \`npm run build:binaries\` in the repository of petstock then makes the executable from it.

Under Apache 2.0: simdutf, uSockets, uWebSockets, highway, parts of TigerBeetle, and, with the LLVM exception, of libc++abi.
Under BSD licences: lol-html, lsquic, zstd, libbase64, libjpeg-turbo, libspng, libwebp.
Under the MIT licence: brotli, ls-hpack, ls-qpack, mimalloc, picohttpparser, c-ares, libuv, libdeflate, uucode, and the modules
of npm that stand in for modules of Node.
Under licences of their own: BoringSSL, libarchive, ICU (Unicode), zlib-ng (zlib). SQLite is in the public domain.
`;

/** By the names of SPDX: the text of each licence that the notice names; the exception of LLVM only takes duties away. */
const names = [
  ...['MIT', 'LGPL-2.0-only', 'LGPL-2.1-only', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'OpenSSL', 'ICU'],
  ...['Unicode-3.0', 'IJG', 'Zlib'],
];
const texts = {
  spec: 'spdx-license-list@6.12.0',
  integrity: 'sha512-+nUYqm3aZMSHbjsthK+i/HHI2okTElCvqwUd4k8QcSk+FTGgjq+fsdFj2wZOaX6XmR2JdWhf/NeflNnvKOjcnQ==',
};

/** Returns what goes with bun: what it is made of, and all of those licences. */
export function bunNotice(): string {
  const folder = join(fetchPackage(texts.spec, texts.integrity), 'licenses');
  const licences = names.map((name) => {
    const { licenseText } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { licenseText: string };
    return `${name}\n\n${licenseText.trim()}\n`;
  });
  return [notice, ...licences].join(`\n${'='.repeat(80)}\n\n`);
}
