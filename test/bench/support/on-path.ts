import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file that a shell would run for a name; undefined where there is none. */
export function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}
