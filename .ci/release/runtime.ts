import { join } from 'node:path';
import { fetchPackage } from '../commands.ts';

/** The version of bun that the executables are built with and run on. */
export const bunVersion = '1.4.4';

/** The systems that executables are built for, with the hash of bun's npm tarball for each. */
const integrities: Readonly<Record<string, string>> = {
  'linux-x64': 'sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==',
  'linux-arm64': 'sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==',
  'linux-x64-musl': 'sha512-hlAPq5jIndGITsca7kUL/jB53hPSq5wEOEHSe36Z7GnUAiCTJn3aS5JBzmYXO1lLK7gt1vRxUF2Bk6WhelIfxw==',
  'darwin-arm64': 'sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==',
  'darwin-x64': 'sha512-uzSXckTnNNS7Un1ihiM31R7P5iKndZ65t6Zj3iI72SrfoV2uI97MKM8z1qer2oRHyqXHLUIJTIhj+qT5UeEjrw==',
  'windows-x64': 'sha512-c+169V+ole29sk5GpFuh6Q4uNwRDqu9tXZAVUYIsdfGZeiJeduQ030BkxHi3PmNpj7w/ec2+oO2okRFVFC9i1g==',
};

export const targets = Object.keys(integrities);

export function executableName(target: string): string {
  return `petstock-${target}${target.startsWith('windows') ? '.exe' : ''}`;
}

/**
 * Returns the package of bun for a target. On x64 it is bun's build for older processors (`baseline`): the other build
 * ends with SIGILL on a processor without AVX2, such as that of many small servers.
 */
export function bunPackage(target: string): string {
  return `@oven/bun-${target.replace('arm64', 'aarch64')}${target.includes('x64') ? '-baseline' : ''}`;
}

/**
 * Downloads bun for a target, and returns the path of its executable. It is not a dev dependency, because that would
 * add 50 MB to every `npm ci`, and npm skips packages of other systems.
 * @throws Error if the tarball is not the pinned one, or there is no such target
 */
export function runtimeFor(target: string): string {
  const integrity = integrities[target];
  if (integrity === undefined) throw new Error(`There is no executable for ${target}, only for ${targets.join(', ')}`);
  const folder = fetchPackage(`${bunPackage(target)}@${bunVersion}`, integrity);
  return join(folder, 'bin', target.startsWith('windows') ? 'bun.exe' : 'bun');
}

/** Returns the name of the target for this machine. */
export function hostName(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const { header } = process.report.getReport() as unknown as { readonly header: { glibcVersionRuntime?: string } };
  const isMusl = system === 'linux' && header.glibcVersionRuntime === undefined;
  return `${system}-${process.arch}${isMusl ? '-musl' : ''}`;
}
