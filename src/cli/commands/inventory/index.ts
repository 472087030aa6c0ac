import type { NounOutline } from '../outline.ts';

export const inventoryOutline: NounOutline = {
  usage: 'inventory',
  summary: 'look at and change stock levels',
  description: 'Looks at and changes the stock levels of the pets in the store.',
  commands: [
    {
      usage: 'list',
      summary: 'list the stock levels of all pets',
      load: async () => (await import('./list.ts')).defineList,
    },
    {
      usage: 'get [petId...]',
      summary: 'show the stock level of one pet or several',
      load: async () => (await import('./get.ts')).defineGet,
    },
    {
      usage: 'set <petId> [quantity...]',
      summary: 'set the stock of one pet or several',
      load: async () => (await import('./set.ts')).defineSet,
    },
    {
      usage: 'adjust <petId> [delta...]',
      summary: 'add to the stock of one pet, or take from it',
      load: async () => (await import('./adjust.ts')).defineAdjust,
    },
    {
      usage: 'apply [file]',
      summary: 'write the stock levels that a file asks for',
      load: async () => (await import('./apply.ts')).defineApply,
    },
    {
      usage: 'export [file]',
      summary: 'write all stock levels to a file to edit and apply',
      load: async () => (await import('./export.ts')).defineExport,
    },
    {
      usage: 'count [session]',
      summary: 'count the shop with a scanner, and set the stock to it',
      load: async () => (await import('./count.ts')).defineCount,
    },
    {
      usage: 'diff <left> <right>',
      summary: 'compare the stock of two environments or files',
      load: async () => (await import('./diff.ts')).defineDiff,
    },
    {
      usage: 'watch',
      summary: 'show changes of the stock as they happen',
      load: async () => (await import('./watch.ts')).defineWatch,
    },
  ],
};
