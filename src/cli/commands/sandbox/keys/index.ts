import type { NounOutline } from '../../outline.ts';

export const keysOutline: NounOutline = {
  usage: 'keys',
  summary: 'issue, list and revoke keys of the embedded service',
  description: 'Issues, lists and revokes keys of the embedded service, while it is served or not.',
  commands: [
    {
      usage: 'create',
      summary: 'issue a key',
      load: async () => (await import('./create.ts')).defineCreate,
    },
    {
      usage: 'list',
      summary: 'list all keys',
      load: async () => (await import('./list.ts')).defineList,
    },
    {
      usage: 'revoke <id>',
      summary: 'end the validity of a key',
      load: async () => (await import('./revoke.ts')).defineRevoke,
    },
  ],
};
