import type { NounOutline } from '../outline.ts';

export const stateOutline: NounOutline = {
  usage: 'state',
  summary: 'what petstock keeps on this machine',
  description:
    'What petstock keeps on this machine for its commands: the limits of each key, who writes which pet, and the history.',
  commands: [
    {
      usage: 'info',
      summary: 'show where it is, how large, and who uses it',
      load: async () => (await import('./info.ts')).defineStateInfo,
    },
    {
      usage: 'check',
      summary: 'check whether it is sound',
      load: async () => (await import('./check.ts')).defineStateCheck,
    },
    {
      usage: 'grant',
      summary: 'print the rights that a role needs of a shared state',
      load: async () => (await import('./grant.ts')).defineStateGrant,
    },
  ],
};
