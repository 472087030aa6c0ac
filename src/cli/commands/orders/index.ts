import type { NounOutline } from '../outline.ts';

export const ordersOutline: NounOutline = {
  usage: 'orders',
  summary: 'look at store orders',
  description: 'Looks at store orders.',
  commands: [
    {
      usage: 'list',
      summary: 'list the store orders',
      load: async () => (await import('./list.ts')).defineList,
    },
  ],
};
