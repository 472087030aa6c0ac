import type { Command, Commands } from './command.ts';
import { suggesting } from './command.ts';

export const topicNames = ['exit-codes', 'environment', 'output', 'files', 'options'] as const;

/** All commands. `petstock --help` shows those of each group in this order. */
const commands: Commands = {
  inventory: {
    summary: 'list, get, set, adjust, apply, export, count, codes, diff, watch',
    group: 'Stock',
    description: 'Shows and changes the stock levels of the pets in the store.',
    commands: {
      list: async () => (await import('./inventory/list.ts')).listCommand,
      get: async () => (await import('./inventory/get.ts')).getCommand,
      set: async () => (await import('./inventory/write-pets.ts')).setCommand,
      adjust: async () => (await import('./inventory/write-pets.ts')).adjustCommand,
      apply: async () => (await import('./inventory/apply.ts')).applyChangesCommand,
      export: async () => (await import('./inventory/export.ts')).exportCommand,
      count: async () => (await import('./inventory/count.ts')).countCommand,
      codes: async () => (await import('./inventory/codes.ts')).codesCommand,
      diff: async () => (await import('./inventory/diff.ts')).diffCommand,
      watch: async () => (await import('./inventory/watch.ts')).watchCommand,
    },
  },
  undo: async () => (await import('./undo.ts')).undoCommand,
  history: {
    summary: 'list, show, add up, discard, export and prune past runs',
    group: 'Stock',
    description:
      'Shows and manages the history. Each write by `petstock inventory` or `petstock undo` is a run in the history, with all of its rows; writes by `petstock api` are not.',
    needsConfig: false,
    commands: {
      list: async () => (await import('./history/show-runs.ts')).historyListCommand,
      show: async () => (await import('./history/show-runs.ts')).historyShowCommand,
      discard: async () => (await import('./history/discard.ts')).historyDiscardCommand,
      totals: async () => (await import('./history/totals.ts')).historyTotalsCommand,
      export: async () => (await import('./history/export-rows.ts')).historyExportCommand,
      prune: async () => (await import('./history/prune.ts')).historyPruneCommand,
    },
  },
  limits: async () => (await import('./show-limits.ts')).limitsCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  state: async () => (await import('./state.ts')).stateCommand,
  config: {
    summary: 'store keys, addresses and settings',
    group: 'Service and setup',
    description:
      "Keys, URLs and settings of this machine. These commands don't contact the service, except set-key --check.",
    examples: [
      ['petstock config set-url https://stock.example.com/v1 --env production'],
      ['petstock config set-key --env production'],
      ['petstock config list'],
    ],
    commands: {
      'set-key': async () => (await import('./config/set-key.ts')).setKeyCommand,
      'unset-key': async () => (await import('./config/set-key.ts')).unsetKeyCommand,
      'set-url': async () => (await import('./config/set.ts')).setUrlCommand,
      set: async () => (await import('./config/set.ts')).setCommand,
      get: async () => (await import('./config/show.ts')).getCommand,
      unset: async () => (await import('./config/set.ts')).unsetCommand,
      list: async () => (await import('./config/show.ts')).listCommand,
      path: async () => (await import('./config/show.ts')).pathCommand,
    },
  },
  pets: async () => (await import('./payloads.ts')).petsCommand,
  orders: async () => (await import('./payloads.ts')).ordersCommand,
  api: async () => (await import('./api.ts')).apiCommand,
  sandbox: {
    summary: 'serve and manage the built-in practice service',
    group: 'Tools',
    description: 'The sandbox: a complete service on this machine. `--env sandbox` starts it for one command.',
    needsConfig: false,
    commands: {
      serve: async () => (await import('./sandbox/serve.ts')).serveCommand,
      reset: async () => (await import('./sandbox/info.ts')).resetCommand,
      info: async () => (await import('./sandbox/info.ts')).infoCommand,
      import: async () => (await import('./sandbox/info.ts')).importCommand,
      openapi: async () => (await import('./sandbox/info.ts')).openApiCommand,
    },
  },
  completion: async () => (await import('./completion.ts')).completionCommand,
  help: {
    summary: 'show help for a command or a topic',
    operands: {
      '[words...]': [
        `a command, or ${topicNames.join(', ')}`,
        suggesting({ kind: 'command', topics: topicNames.map((name) => [name, 'a help topic']) }),
      ],
    },
    description: `Shows help for a command, or for one of the topics ${topicNames.join(', ')}.`,
  },
};

/** The program, above all commands. */
export const root: Command = {
  summary: '',
  description: 'Manage the stock of a pet store from the command line.',
  commands,
};
