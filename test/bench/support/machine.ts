import { execFile } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';

/** `4 x AMD EPYC, 24 GB, Linux 6.18.44` */
export function machine(): string {
  const processors = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} x ${processors[0]?.model.trim() ?? 'unknown'}, ${gigabytes} GB, ${type()} ${release()}`;
}

/** `load 0.4`: how many processes have run or waited for a processor at a time, over the last minute. */
export function load(): string {
  return `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
}

/** The version that a program tells of itself, such as `curl 7.88.1`; undefined where there is no such program. */
export async function versionOf(program: string): Promise<string | undefined> {
  const told = await promisify(execFile)(program, ['--version']).catch(() => undefined);
  const version = /\d+(\.\d+)+/.exec(told?.stdout ?? '')?.[0];
  return version === undefined ? undefined : `${program} ${version}`;
}
