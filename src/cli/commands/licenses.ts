import { define } from './define.ts';

export const defineLicenses = define({
  formats: ['json', 'ndjson'],
  needsConfig: false,
  description: 'Prints the licences of petstock and of all bundled software, as text.',
  examples: [['petstock licenses'], ['petstock licenses > LICENSES.txt']],
  action: async ({ context, results }) => {
    const text = await context.licences();
    if (results.wantsJson) {
      await results.print({ columns: [{ field: 'text', title: 'Text' }], rows: [[{ text }]], shape: 'one' });
    } else await results.write(text);
  },
});
