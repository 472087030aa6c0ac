import { examples } from '../command.ts';
import type { NounOutline } from '../outline.ts';

/** None of these commands talks to the network. */
export const configOutline: NounOutline = {
  usage: 'config',
  summary: 'keys, URLs and settings of this machine',
  description: 'Keys, URLs and settings of this machine. Nothing here talks to the service.',
  examples: examples([
    ['petstock config set-url https://stock.example.com/v1 --env production'],
    ['petstock config set-key --env production'],
    ['petstock config list'],
  ]),
  commands: [
    {
      usage: 'set-key',
      summary: 'store the key of one environment',
      load: async () => (await import('./set-key.ts')).defineSetKey,
    },
    {
      usage: 'unset-key',
      summary: 'forget the key of one environment',
      load: async () => (await import('./set-key.ts')).defineUnsetKey,
    },
    {
      usage: 'set-url <url>',
      summary: 'store the base URL of one environment',
      load: async () => (await import('./set.ts')).defineSetUrl,
    },
    {
      usage: 'set <name> [value]',
      summary: 'change a setting',
      load: async () => (await import('./set.ts')).defineSet,
    },
    {
      usage: 'get <name>',
      summary: 'print one value',
      load: async () => (await import('./show.ts')).defineGet,
    },
    {
      usage: 'unset <name>',
      summary: 'remove a setting or URL',
      load: async () => (await import('./set.ts')).defineUnset,
    },
    {
      usage: 'list',
      summary: 'show everything that is set, and where it comes from',
      load: async () => (await import('./show.ts')).defineList,
    },
    {
      usage: 'path',
      summary: 'print where the configuration file is',
      load: async () => (await import('./show.ts')).definePath,
    },
  ],
};
