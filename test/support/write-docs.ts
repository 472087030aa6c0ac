import { writeFileSync } from 'node:fs';
import { commandsDocument } from './reference/commands-document.ts';

/** `npm run docs`: writes the document of the commands anew. `npm run lacks` says when it has to be. */
writeFileSync(new URL('../../docs/reference/commands.md', import.meta.url), await commandsDocument());
