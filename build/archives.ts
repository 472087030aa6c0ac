import { basename } from 'node:path';

/** What esbuild says of the files that it has made, as far as it is needed here. */
export interface Bundle {
  readonly outputs: Readonly<Record<string, Output>>;
}

interface Output {
  readonly bytes: number;
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/**
 * Each of these modules is the beginning of a stage that loads all of its pieces. The small pieces of a stage go into one file,
 * since Node takes 0.2 to 0.5 ms for a file, whatever is in it: `inventory list` loads 21 files in place of 53.
 */
const stages = {
  start: 'bin/run.ts',
  command: 'src/cli/invocation/open.ts',
  state: 'src/state/open-state.ts',
  request: 'src/cli/invocation/connect.ts',
};

/** What it loads stays in files of its own: `--version` loads nothing else. */
const first = 'bin/petstock.ts';

/** A larger piece would be read by those that don't need it. In bytes of the ES module. */
const largestPiece = 8000;

export interface Archives {
  /** The archive of a piece, by the names of both. */
  readonly of: ReadonlyMap<string, string>;
}

/** Which pieces of the program go into which archive. Those of a package stay alone. */
export function planArchives({ outputs }: Bundle): Archives {
  const of = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (path: string, archive: string | undefined) => {
    const output = outputs[path];
    if (output === undefined || seen.has(path)) return;
    seen.add(path);
    const isOurs =
      archive !== undefined && Object.keys(output.inputs).every((input) => !input.includes('node_modules/'));
    if (output.entryPoint === undefined && isOurs && output.bytes <= largestPiece) of.set(basename(path), archive);
    for (const { path: imported, kind } of output.imports) if (kind === 'import-statement') visit(imported, archive);
  };
  const begin = (entry: string, archive: string | undefined) => {
    const found = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry);
    if (found === undefined) throw new Error(`the bundle has no piece that begins with ${entry}`);
    visit(found, archive);
  };
  begin(first, undefined);
  for (const [stage, entry] of Object.entries(stages)) begin(entry, `pieces-${stage}.cjs`);
  return { of };
}

/** The code of a piece with its `require` of other pieces going to their archives. */
export function throughArchives(code: string, { of }: Archives): string {
  return code.replaceAll(/require\("\.\/([^"]+)"\)/g, (whole, name: string) => {
    const archive = of.get(name);
    return archive === undefined ? whole : `require("./${archive}")("${name}")`;
  });
}

/** The file of an archive: each piece is a function, compiled and run when it is first asked for. */
export function archiveCode(pieces: ReadonlyMap<string, string>): string {
  const functions = [...pieces].map(([name, code]) => `"${name}": (module, exports) => {\n${withoutNote(code)}}`);
  return `"use strict";
const modules = new Map();
module.exports = (name) => {
  let module = modules.get(name);
  if (module === undefined) {
    module = { exports: {} };
    modules.set(name, module);
    pieces[name](module, module.exports);
  }
  return module.exports;
};
const pieces = {
${functions.join(',\n')}
};
`;
}

/** esbuild's list of names for ES modules that import the file: none does. */
function withoutNote(code: string): string {
  return code.replace(/\/\/ Annotate the CommonJS export names[^\n]*\n0 && \(module\.exports = \{[^}]*\}\);\n/, '');
}
