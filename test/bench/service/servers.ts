import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { startNode, stop } from '../support/children.ts';

/** A server in a process of its own. */
export interface Server {
  readonly url: string;
  readonly key: string;
  /** Most memory that it has had so far, in MB, as the operating system tells. */
  peakMb(): number;
  /** Processor time that it has used so far, in seconds; Linux counts it in hundredths. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** @param script the built `serve.ts`, and what it is given */
export async function startServer(script: string, ...args: readonly string[]): Promise<Server> {
  const child = startNode([script, ...args]);
  if (child.stdout === null) throw new Error('the server has no stdout');
  child.stderr?.pipe(process.stderr);
  const [line] = await once(child.stdout, 'data');
  return {
    ...JSON.parse(String(line)),
    peakMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    stop: () => stop(child),
  };
}
