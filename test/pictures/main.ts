import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Times are shown as the tests show them, wherever the pictures are made.
process.env.TZ = 'America/New_York';
const { makePictures } = await import('./scenes.ts');
const folder = join(import.meta.dirname, '../../docs/pictures');
await mkdir(folder, { recursive: true });
for (const [name, svg] of await makePictures()) await writeFile(join(folder, name), svg);
