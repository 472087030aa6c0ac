import type { NounOutline } from '../outline.ts';

export const petsOutline: NounOutline = {
  usage: 'pets',
  summary: 'look at pet records (deprecated by the service)',
  description: 'Looks at pet records. The service has deprecated this operation.',
  commands: [
    {
      usage: 'get <petId>',
      summary: 'show the record of one pet',
      load: async () => (await import('./get.ts')).defineGet,
    },
  ],
};
