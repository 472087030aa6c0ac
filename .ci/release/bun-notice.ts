import { bunVersion } from './runtime.ts';

/** What the runtime inside an executable is under. Its package brings no licence file; its repository has the whole list. */
export const bunNotice = `bun ${bunVersion}

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
