import { join } from 'node:path';
import { fetchPackage } from './fetch-package.ts';

/** Of bun, which the executables are made with and run on. */
export const bunVersion = '1.4.4';

/** A system that there is an executable for. */
export interface Target {
  /** In the name of the file: `petstock-linux-x64`. */
  readonly name: string;
  /** The package of the registry that holds bun for it, and the hash of its tarball. */
  readonly package: string;
  readonly integrity: string;
}

/**
 * x64 is bun's build for processors of 2013 and earlier too: the other one ends with SIGILL where AVX2 is missing, as in many
 * small servers.
 */
export const targets: readonly Target[] = [
  {
    name: 'linux-x64',
    package: '@oven/bun-linux-x64-baseline',
    integrity: 'sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==',
  },
  {
    name: 'linux-arm64',
    package: '@oven/bun-linux-aarch64',
    integrity: 'sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==',
  },
  {
    name: 'linux-x64-musl',
    package: '@oven/bun-linux-x64-musl-baseline',
    integrity: 'sha512-hlAPq5jIndGITsca7kUL/jB53hPSq5wEOEHSe36Z7GnUAiCTJn3aS5JBzmYXO1lLK7gt1vRxUF2Bk6WhelIfxw==',
  },
  {
    name: 'darwin-arm64',
    package: '@oven/bun-darwin-aarch64',
    integrity: 'sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==',
  },
  {
    name: 'darwin-x64',
    package: '@oven/bun-darwin-x64-baseline',
    integrity: 'sha512-uzSXckTnNNS7Un1ihiM31R7P5iKndZ65t6Zj3iI72SrfoV2uI97MKM8z1qer2oRHyqXHLUIJTIhj+qT5UeEjrw==',
  },
  {
    name: 'windows-x64',
    package: '@oven/bun-windows-x64-baseline',
    integrity: 'sha512-c+169V+ole29sk5GpFuh6Q4uNwRDqu9tXZAVUYIsdfGZeiJeduQ030BkxHi3PmNpj7w/ec2+oO2okRFVFC9i1g==',
  },
];

/**
 * Brings bun for a target from the registry, once: it is kept below `node_modules/.cache`.
 *
 * It is no dev dependency: it would be 50 MB of every `npm ci`, and npm leaves out the packages of other systems.
 * @param root the folder of the repository
 * @returns the path of bun's own executable
 * @throws where the tarball is not the one that was pinned
 */
export function runtimeFor(target: Target, root: string): string {
  const folder = fetchPackage(`${target.package}@${bunVersion}`, target.integrity, root);
  return join(folder, 'bin', target.name.startsWith('windows') ? 'bun.exe' : 'bun');
}

/** The name of the target that runs here. */
export function hostName(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const report = process.report.getReport() as unknown as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  const isMusl = system === 'linux' && report.header.glibcVersionRuntime === undefined;
  return `${system}-${process.arch}${isMusl ? '-musl' : ''}`;
}
