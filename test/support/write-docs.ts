import { writeFileSync } from 'node:fs';
import { commandsDocument } from '../../.ci/reference/commands-document.ts';

/** `npm run docs`: writes `docs/reference/commands.md` anew. `npm run lacks` reports when that is needed. */
writeFileSync(new URL('../../docs/reference/commands.md', import.meta.url), await commandsDocument());
