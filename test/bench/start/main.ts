import { parseArgs } from 'node:util';
import { serve } from '../governor/served.ts';
import { type Build, buildProject } from '../support/build.ts';
import { buildExecutable, type Executable } from '../support/executable.ts';
import { temporaryFolder } from '../support/folders.ts';
import { type Measurer, startMeasurer } from '../support/measure.ts';
import { installNodes, otherLines, type Runtime, thisNode } from '../support/nodes.ts';
import { onPath } from '../support/on-path.ts';
import type { Report } from '../support/report.ts';
import { type Results, runRounds } from '../support/rounds.ts';
import { contestantsOf } from './contestants.ts';
import { reportOf } from './report.ts';

/**
 * `npm run bench -- start [--quick] [--runs 25] [--nodes 20,22,24]`: how long it takes to start, beside Node itself, on
 * each of these lines, and as an executable in the rounds of this Node. What other Nodes and the executable are made of comes from the registry
 * for this run; `--quick` does without.
 */
export async function run(args: readonly string[]): Promise<Report> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, runs: text, nodes: text },
  });
  const rounds = Number(values.runs ?? (values.quick ? 8 : 25));
  const { runtimes, folder } = await installNodes(
    values.quick && values.nodes === undefined ? [] : otherLines(values.nodes),
  );
  try {
    const build = await buildProject();
    const executable = values.quick ? undefined : await buildExecutable();
    const measurer = await startMeasurer();
    try {
      const found: { version: string; results: Results }[] = [];
      for (const runtime of [thisNode, ...runtimes]) {
        found.push({
          version: runtime.version,
          results: await measure(runtime, { build, executable, measurer, rounds }),
        });
      }
      return reportOf(args, found);
    } finally {
      measurer.stop();
      executable?.remove();
      build.remove();
    }
  } finally {
    folder.remove();
  }
}

interface Setting {
  readonly build: Build;
  readonly executable: Executable | undefined;
  readonly measurer: Measurer;
  readonly rounds: number;
}

/** With a service of its own, whose limit is out of the way. What needs no Node is measured beside this one. */
async function measure(runtime: Runtime, setting: Setting): Promise<Results> {
  const { node } = runtime;
  const {
    build: { program },
    measurer,
    rounds,
  } = setting;
  const isThisNode = runtime === thisNode;
  const executable = isThisNode ? setting.executable?.path : undefined;
  const gh = isThisNode ? onPath('gh') : undefined;
  const served = await serve({ program, limit: 1_000_000, windowMs: 60_000, pets: 24 });
  const { path: folder, remove } = temporaryFolder();
  try {
    const { url, key } = served;
    const stock = await served.stock();
    const scene = { measurer, node, program, executable, gh, url, key, stock, folder };
    return await runRounds(contestantsOf(scene), rounds);
  } finally {
    await served.stop();
    remove();
  }
}
