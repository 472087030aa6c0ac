import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { canMakeFifos } from '../support/capabilities.ts';
import { type Home, runProgram, serve, serveProgram, startProgram, temporaryHome } from '../support/program.ts';

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

test.each(['SIGINT', 'SIGHUP'] as const)('exits with the code of %s if it arrives during a request', async (signal) => {
  const { env, untilSeen } = await serve({ faults: ['GET /inventory:hang'] });
  const program = startProgram('inventory list', { env });
  await untilSeen(1);
  program.kill(signal);
  const { stderr, ...rest } = await program.result;
  expect(rest).toEqual({ code: codes[signal], signal: null, stdout: '' });
  expect(stderr).toBe('Error: Interrupted. Nothing was written.\n');
});

test.each(['SIGTERM'] as const)(
  'exits with the code of %s sent while stdin is read, and stores nothing',
  async (signal) => {
    const home = temporaryHome();
    const program = startProgram('config set-key --env staging', { home, stdin: { open: true } });
    program.type('psk_half_of_a_k');
    await untilReading(program.pid);
    program.kill(signal);
    const stderr = 'Error: Interrupted.\n';
    expect(await program.result).toEqual({ code: codes[signal], signal: null, stdout: '', stderr });
    expect(readdirSync(home.folder)).toEqual([]);
  },
);

test.each(['SIGTERM'] as const)('ends sandbox serve on %s once requests in flight are answered', async (signal) => {
  const { program, answer } = await servePending('GET /inventory:delay=500');
  program.kill(signal);
  const { status, items } = await answer.then(async (one) => ({ status: one.status, items: await one.json() }));
  expect({ status, items }).toEqual({ status: 200, items: expect.any(Array) });
  const stderr = expect.not.stringContaining('Error');
  expect(await program.result).toMatchObject({ code: 0, signal: null, stderr });
});

test('ends sandbox serve at once on a second Ctrl-C', async () => {
  const { program, url, answer } = await servePending('GET /inventory:delay=60000');
  const cutOff = answer.catch(() => undefined);
  program.kill('SIGINT');
  await untilRefused(Number(new URL(url).port));
  const { code, signal } = await killedAgain(program, 'SIGINT');
  expect(signal ?? code).toBe('SIGINT');
  expect(await cutOff).toBe(undefined);
});

test('exits with 143 after SIGTERM once requests in flight are answered, and suggests a resume', async () => {
  const { env, untilSeen } = await serve({ faults: ['PATCH /inventory/*:delay=1500'] });
  const stdin = `petId,quantity\n${Array.from({ length: 20 }, (_, index) => `${index + 1},77\n`).join('')}`;
  const program = startProgram('inventory apply - --yes --json --concurrency 2', { env, stdin });
  await untilSeen(3);
  program.kill('SIGTERM');
  const { stdout, stderr, code } = await program.result;
  const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
  const { run, counts } = JSON.parse(stdout);
  expect({ code, ...error }).toMatchObject({ code: 'interrupted', kind: 'interrupted', exitCode: 143, run });
  expect([code, error.hint]).toEqual([143, expect.stringContaining(`inventory apply --resume ${run}`)]);
  expect(counts.applied + counts.notAttempted).toBe(20);
});

test.each([
  ['SIGINT', 0],
  ['SIGTERM', 143],
] as const)('ends watch on %s with exit code %i', async (signal, code) => {
  const { env, untilSeen } = await serve();
  const program = startProgram('inventory watch --interval 0.2', { env });
  await untilSeen(2);
  program.kill(signal);
  expect(await program.result).toMatchObject({ code, signal: null, stdout: '' });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'quits at once on a second %s, and lists the row as unknown',
  async (signal) => {
    const { env, untilSeen } = await serve({ faults: ['PATCH /inventory/*:hang'] });
    const home = temporaryHome();
    const program = startProgram('inventory set 1 5 --timeout 600', { env, home });
    await untilSeen(1);
    program.kill(signal);
    await program.until('stderr', 'Press Ctrl-C again to quit at once.');
    const { stderr, ...rest } = await killedAgain(program, signal);
    expect(rest).toEqual({ code: null, signal, stdout: '' });
    expect(stderr).toMatch(/quit at once\.\n$/);
    const listed = await runProgram('history list --json', { env, home });
    expect(JSON.parse(listed.stdout)[0].counts).toMatchObject({ unknown: 1, applied: 0 });
  },
);

// `timeout` sends a signal to the program, and then to the group of both; a closed terminal sends two, too.
test.each(['SIGHUP', 'SIGTERM'] as const)(
  'finishes requests in flight after %s, even if it comes twice',
  async (signal) => {
    const { env, untilSeen } = await serve({ faults: ['PATCH /inventory/*:delay=1500'] });
    const program = startProgram('inventory apply - --yes --format csv', { env, stdin: 'petId,quantity\n1,5\n2,6\n' });
    await untilSeen(2);
    program.kill(signal);
    await program.until('stderr', 'Stopping after the ');
    program.kill(signal);
    const { stderr, ...rest } = await program.result;
    expect(rest).toMatchObject({ code: codes[signal], signal: null });
    expect(stderr).toContain('\n2 applied.\n');
  },
);

test.runIf(canMakeFifos)('resumes an apply whose terminal was closed in the middle', async () => {
  const { env, untilSeen } = await serve({ faults: ['PATCH /inventory/*:delay=1500'] });
  const home = temporaryHome();
  const file = join(home.folder, 'changes.csv');
  const petIds = Array.from({ length: 20 }, (_, index) => index + 1);
  writeFileSync(file, `petId,quantity\n${petIds.map((petId) => `${petId},${petId + 500}`).join('\n')}\n`);
  const program = startProgram(['inventory', 'apply', file, '--yes'], { env, home, terminal: 80 });
  await untilSeen(2);
  // This kills `script`, which holds the terminal open.
  program.kill('SIGKILL');
  await program.result;
  const [run] = await vi.waitFor(
    async () => {
      const listed = JSON.parse((await runProgram('history list --json', { env, home })).stdout);
      if (listed[0].state !== 'incomplete') throw new Error('it is still running');
      return listed;
    },
    { timeout: 20_000, interval: 200 },
  );
  // If SIGKILL had ended the run, its last request would be unknown.
  expect(run.counts).toMatchObject({ unknown: 0, failed: 0, conflict: 0 });
  expect(run.counts.applied).toBeGreaterThan(0);
  const resumed = await runProgram(`inventory apply --resume ${run.run} --yes --json`, { env, home });
  expect(resumed.code).toBe(0);
  expect(JSON.parse((await runProgram('history list --json', { env, home })).stdout)[0].counts.applied).toBe(20);
});

/** Returns a command that runs a program, outlives its terminal, and records how the program ended. */
function onTerminalThatCloses(ended: string, passesOn: boolean): string[] {
  const code = `
    const child = require('node:child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' });
    process.on('SIGHUP', () => ${passesOn ? "child.kill('SIGHUP')" : '{}'});
    child.on('exit', (code, signal) => {
      require('node:fs').writeFileSync(${JSON.stringify(ended)}, JSON.stringify({ code, signal }));
      process.kill(process.pid, 'SIGKILL');
    });`;
  return [process.execPath, '-e', code];
}

/** Creates a named pipe, whose reader waits until the writer closes it. */
function fifo(home: Home): string {
  const path = join(home.folder, 'ended');
  execFileSync('mkfifo', [path]);
  return path;
}

describe.runIf(canMakeFifos)('a closed terminal', () => {
  test.each([
    ['while it waits for a response', 'get 1', true],
    ['at a question, and no signal comes', 'set 4 -5', false],
    // A count must not mistake a closed terminal for Ctrl-D.
    ['in a count, and no signal comes', 'count FILE --yes', false],
  ])('ends with SIGHUP, and writes nothing, if its terminal is closed: %s', async (_when, command, passesOn) => {
    const { env, untilSeen, journal } = await serve(command === 'get 1' ? { faults: ['GET /inventory:hang'] } : {});
    const home = temporaryHome();
    const ended = fifo(home);
    const through = onTerminalThatCloses(ended, passesOn);
    const program = startProgram(`inventory ${command.replace('FILE', join(home.folder, 'counts.txt'))}`, {
      ...{ env, home, terminal: 80, through },
    });
    if (command === 'get 1') await untilSeen(1);
    else if (command.startsWith('set')) await program.until('stdout', '(y/N)');
    else {
      await program.until('stdout', ' > ');
      program.type('4\n');
      await program.until('stdout', '4: 1');
    }
    program.kill('SIGKILL');
    expect(JSON.parse(await readFile(ended, 'utf8'))).toEqual({ code: null, signal: 'SIGHUP' });
    expect(journal().filter(({ method }) => method === 'PATCH')).toEqual([]);
    expect((await runProgram('history list --json', { env, home })).stdout).toBe('[]\n');
  });
});

test('goes on after Ctrl-Z and fg, and lets others write meanwhile', async () => {
  const { store, env, journal, untilSeen } = await serve({
    // Three windows, so that the run is not over before it is stopped.
    ...{ pets: 60, ids: 'small', limits: { minute: 20, day: 100_000 }, windowSeconds: 2, ban: false },
    faults: ['PATCH /inventory/*:delay=20'],
  });
  const home = temporaryHome();
  const stock = () => Array.from(store.items(), ({ quantity }) => Number(quantity));
  const before = stock();
  const file = join(home.folder, 'changes.csv');
  writeFileSync(file, `petId,delta\n${before.map((_, index) => `${index + 1},1000\n`).join('')}`);
  const shell = ['bash', '--norc', '-ic', '"$@"; echo stopped; read -r line; fg; echo "ended with $?"', 'sh'];
  const program = startProgram(['inventory', 'apply', file, '--yes', '--concurrency', '2'], {
    ...{ env, home, terminal: 100, through: shell },
  });
  await untilSeen(5);
  program.type('\x1a');
  await program.until('stdout', 'stopped\r\n');
  expect(stock()).not.toEqual(before.map((quantity) => quantity + 1000));
  const other = await runProgram('inventory adjust 30 +1 --max-wait 10', { env, home });
  expect(other).toMatchObject({ code: 0 });
  program.type('\n');
  await program.until('stdout', 'ended with 0');
  expect(stock()).toEqual(before.map((quantity, index) => quantity + 1000 + (index === 29 ? 1 : 0)));
  expect(journal().filter(({ status }) => status === 429)).toEqual([]);
});

/** Sends a signal again until it is not taken for the first one, passed on by `timeout` or npm. */
function killedAgain(program: ReturnType<typeof startProgram>, signal: NodeJS.Signals) {
  const again = setInterval(() => program.kill(signal), 100);
  return program.result.finally(() => clearInterval(again));
}

/** Resolves once the process waits for its stdin: libuv has put descriptor 0 into its epoll set. Linux only. */
function untilReading(pid: number): Promise<void> {
  return vi.waitFor(
    () => {
      const watched = readdirSync(`/proc/${pid}/fdinfo`).map((fd) => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'));
      if (!watched.some((info) => /^tfd:\s+0 /m.test(info))) throw new Error(`process ${pid} does not read its stdin`);
    },
    { timeout: 20_000, interval: 10 },
  );
}

/** Resolves once no program listens at the port. */
function untilRefused(port: number): Promise<void> {
  const refused = async () => {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').catch(() => undefined);
    socket.destroy();
    if (isOpen !== undefined) throw new Error(`somebody listens at port ${port}`);
  };
  return vi.waitFor(refused, { timeout: 20_000, interval: 10 });
}

/** Runs `sandbox serve` with a fault, and sends a list. Resolves once the service has charged it, without a response. */
async function servePending(fault: string) {
  const { program, url, key } = await serveProgram(['--fault', fault]);
  const ask = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const answer = ask('/inventory');
  let asked = 0;
  await vi.waitFor(async () => {
    asked += 1;
    const { headers } = await ask('/pets/1');
    expect(Number(headers.get('x-ratelimit-remaining'))).toBe(1000 - 1 - asked);
  });
  return { program, url, answer };
}
