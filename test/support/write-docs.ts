import { writeFileSync } from 'node:fs';
import { commandsDocument } from '../../.ci/reference/commands-document.ts';
import { drawList } from '../pictures/draw-list.ts';

/** `npm run docs`: writes `docs/reference/commands.md` and the picture of the README anew. */
writeFileSync(new URL('../../docs/reference/commands.md', import.meta.url), await commandsDocument());
await drawList();
