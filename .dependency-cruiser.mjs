/**
 * The rules for imports, which `npx depcruise bin src` checks.
 *
 * Imports of types alone are marked `type-only`, because they are gone when the program runs.
 */

/** For each folder of `src` that may not import freely, the folders that it may import, besides itself. */
const mayImport = {
  shared: [],
  inventory: ['shared/'],
  service: ['shared/'],
  output: ['inventory/', 'rate-limit/', 'shared/'],
  'change-files': ['inventory/', 'output/', 'shared/'],
  'rate-limit': ['state/state-store.ts', 'state/statements.ts', 'shared/'],
  settings: ['shared/'],
  state: ['inventory/', 'shared/'],
  api: ['inventory/', 'rate-limit/', 'shared/'],
  writes: ['inventory/', 'api/', 'rate-limit/', 'state/', 'shared/'],
};

const folders = Object.entries(mayImport).map(([folder, others]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} imports of ours: ${[`itself`, ...others].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: {
    path: '^(src|bin|test)/',
    pathNot: [`^src/${folder}/`, ...others.map((other) => `^src/${other.replace('.', '\\.')}`)],
  },
}));

/** Returns a rule against static imports that remain when the program runs. */
const late = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from,
  to: { ...to, dynamic: false, dependencyTypesNot: ['type-only'] },
});

export default {
  forbidden: [
    ...folders,
    {
      name: 'no-circles',
      comment: 'no file imports itself by way of others, not for a type either',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'downwards',
      comment: 'nothing in src imports the bin or a test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(bin|test)/' },
    },
    {
      name: 'nouns',
      comment: "a command imports nothing from another noun's folder",
      severity: 'error',
      from: { path: '^src/cli/commands/([^/]+)/' },
      to: { path: '^src/cli/commands/[^/]+/', pathNot: '^src/cli/commands/$1/' },
    },
    {
      name: 'commands-are-the-top',
      comment: 'only the program and what runs commands know them',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/cli/commands/', '^src/cli/(main|program|report)\\.ts$'],
      },
      to: { path: '^src/cli/commands/' },
    },
    {
      name: 'service-is-apart',
      comment: 'only the sandbox knows the embedded service, and what starts it for other programs',
      severity: 'error',
      from: {
        path: '^(bin|src)/',
        pathNot: ['^src/service/', '^src/cli/sandbox\\.ts$', '^src/cli/commands/sandbox/'],
      },
      to: { path: '^src/service/' },
    },
    {
      name: 'service-by-its-door',
      comment: 'the sandbox imports no more of the service than its index',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/service/' },
      to: { path: '^src/service/', pathNot: '^src/service/index\\.ts$' },
    },
    late(
      'service-late',
      'the embedded service is loaded when it is wanted: import() it',
      { path: '^src/', pathNot: '^src/service/' },
      { path: '^src/service/' },
    ),
    late(
      'heavy-late',
      'these libraries are slow to load: import() them',
      { path: '^(bin|src)/', pathNot: '^src/api/undici-(files|proxy)\\.ts$' },
      { path: 'node_modules/(conf|cli-table3|undici|chalk)/' },
    ),
    late(
      'undici-late',
      'the parts of undici that are used are loaded when they are wanted: import() them',
      { path: '^(bin|src)/' },
      { path: '^src/api/undici-(files|proxy)\\.ts$' },
    ),
    late(
      'postgres-late',
      'the driver of PostgreSQL is loaded where a database is asked for: import() what uses it',
      { path: '^(bin|src)/' },
      { path: 'node_modules/pg/' },
    ),
    {
      name: 'real-transport',
      comment: 'the transport is made at the edge and handed down',
      severity: 'error',
      from: { pathNot: ['^bin/', '^test/'] },
      to: { path: '^src/api/undici\\.ts$' },
    },
    {
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      comment: 'every package that is imported is in package.json',
      severity: 'error',
      from: { path: '^(bin|src)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-optional', 'npm-peer'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
