import { release } from 'node:os';
import process from 'node:process';
import { version } from '../../shared/version.ts';

export interface ProgramFacts {
  readonly version: string;
  /** `node 22.18.0`, or `bun 1.3.4`, which is in the executable. */
  readonly runtime: string;
  /** The file that runs. */
  readonly path: string;
  /** It needs no Node beside it. */
  readonly isExecutable: boolean;
  /** `linux x64 6.1.0` */
  readonly system: string;
}

/** What runs here, and on what. */
export function programFacts(): ProgramFacts {
  const { versions, argv, execPath, platform, arch } = process;
  const script = argv[1] ?? execPath;
  // bun shows what is inside an executable under a path of its own.
  const isExecutable = versions.bun !== undefined && /^(?:\/\$bunfs|[a-z]:[\\/]~bun)/i.test(script);
  return {
    version,
    runtime: versions.bun === undefined ? `node ${versions.node}` : `bun ${versions.bun}`,
    path: isExecutable ? execPath : script,
    isExecutable,
    system: `${platform} ${arch} ${release()}`,
  };
}
