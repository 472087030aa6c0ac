import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Returns a function that copies the files of the state from one suffix to another; '' is the state itself. */
export function stateCopies({ folders }: { readonly folders: { readonly state: string } }) {
  return (from: string, to: string) => {
    for (const part of ['', '-wal', '-shm'].map((end) => join(folders.state, `state.db${end}`))) {
      rmSync(`${part}${to}`, { force: true });
      if (existsSync(`${part}${from}`)) copyFileSync(`${part}${from}`, `${part}${to}`);
    }
  };
}
