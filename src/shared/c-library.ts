/** What an executable calls functions of the system by: https://bun.sh/docs/api/ffi */
export interface Ffi {
  /** @throws where there is no such library, or no such function in it */
  dlopen<Name extends string>(
    library: string,
    functions: Readonly<Record<Name, Signature>>,
  ): { readonly symbols: Readonly<Record<Name, (...values: readonly unknown[]) => number>> };
}

interface Signature {
  readonly args: readonly string[];
  readonly returns: string;
}

/**
 * The C library, under the one name that each system is certain to find. A name that the system does not know is looked for in the
 * current folder, whose files are those of anybody: so no other name is tried. musl takes this name for itself.
 */
const libraries: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'libc.so.6',
  darwin: '/usr/lib/libSystem.B.dylib',
};

/**
 * Functions of the C library, by their names.
 * @throws on Windows, and where the system forbids code that is made at run time
 */
export function cFunctions<Name extends string>(
  ffi: Ffi,
  platform: NodeJS.Platform,
  functions: Readonly<Record<Name, Signature>>,
): Readonly<Record<Name, (...values: readonly unknown[]) => number>> {
  const library = libraries[platform];
  if (library === undefined) throw new Error(`No C library is known for ${platform}`);
  return ffi.dlopen(library, functions).symbols;
}
