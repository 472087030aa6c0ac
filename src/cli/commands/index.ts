import { configOutline } from './config/index.ts';
import { historyOutline } from './history/index.ts';
import { inventoryOutline } from './inventory/index.ts';
import { ordersOutline } from './orders/index.ts';
import type { Outline } from './outline.ts';
import { petsOutline } from './pets/index.ts';
import { sandboxOutline } from './sandbox/index.ts';
import { stateOutline } from './state/index.ts';

/** All commands but `help`, in the order of `petstock --help`. */
export const commandOutlines: readonly Outline[] = [
  inventoryOutline,
  historyOutline,
  {
    usage: 'undo [run]',
    summary: 'take back what a run has written',
    load: async () => (await import('./undo.ts')).defineUndo,
  },
  {
    usage: 'limits',
    summary: 'show what is left of the rate limit, without a request',
    load: async () => (await import('./limits/show.ts')).defineLimits,
  },
  {
    usage: 'status',
    summary: 'check the environment, its address and its key',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  stateOutline,
  configOutline,
  petsOutline,
  ordersOutline,
  {
    usage: 'api <method> <path>',
    summary: 'send any request, with the key and within the rate limit',
    load: async () => (await import('./api.ts')).defineApi,
  },
  sandboxOutline,
  {
    usage: 'completion <shell>',
    summary: 'print a script that completes commands at TAB',
    load: async () => (await import('./completion/completion.ts')).defineCompletion,
  },
  {
    usage: 'licenses',
    summary: 'show the licences of petstock and of what goes with it',
    load: async () => (await import('./licenses.ts')).defineLicenses,
  },
];
