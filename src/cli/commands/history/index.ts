import type { NounOutline } from '../outline.ts';

export const historyOutline: NounOutline = {
  usage: 'history',
  summary: 'what this machine has changed',
  description: 'What this machine has changed: every write is a run in the history, with all of its rows.',
  commands: [
    {
      usage: 'list',
      summary: 'list the runs, the latest first',
      load: async () => (await import('./list.ts')).defineHistoryList,
    },
    {
      usage: 'show <run>',
      summary: 'show the rows of a run',
      load: async () => (await import('./show.ts')).defineHistoryShow,
    },
    {
      usage: 'export [file]',
      summary: 'write every row of every run as NDJSON',
      load: async () => (await import('./export.ts')).defineHistoryExport,
    },
    {
      usage: 'prune',
      summary: 'remove old runs',
      load: async () => (await import('./prune.ts')).defineHistoryPrune,
    },
  ],
};
