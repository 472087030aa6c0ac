import { withPage } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { define, files } from '../command.ts';
import { countOptions, parseCountFlags } from './count/count-options.ts';

export const countCommand = define({
  summary: 'count the shop with a scanner, and set the stock to the result',
  formats: withPage,
  operands: {
    '[file]': ['the file of scans: to scan into, or, in a script, to read; - reads stdin', files('.txt', '.csv')],
  },
  description:
    'Counts the shop, with a bar code scanner or by hand. A count is a file of scans: on a terminal each scan is on disk ' +
    'before the next one is read. Without a name it is a new count-<date>-<time>.txt in this folder; a file that is there ' +
    'is continued. At the end petstock shows the count beside the current stock and, after a confirmation, writes it as a ' +
    'run that can be resumed and undone. Count while the shop is closed, or one shelf at a time. With --add or --take the ' +
    'sums are added to the stock or subtracted from it. This is safe while other tills change the stock. ' +
    'Sends one request for the stock, and one per pet whose stock changes; on a terminal one more at the beginning.\n\n' +
    'A line is one of:\n' +
    '  42        counts one unit of pet 42, or of the pet with that bar code or name\n' +
    '  42 x3     counts three units; so does 3*code with a bar code\n' +
    '  -         cancels the line before\n' +
    '  = 42 7    sets pet 42 to seven units in all\n' +
    '  code,12   a line of a data collector: code,quantity and whatever follows, also with ;\n' +
    '  # text    is a comment\n' +
    '            a blank line shows the sum\n' +
    '  done      ends the count, like Ctrl-D\n\n' +
    'A number of up to three digits beside scans of bar codes may be a pet or a quantity: petstock asks, and in a script ' +
    'it is a mistake; 42 x1 is always pet 42. ' +
    'An unknown code beeps, and is listed at the end with its units (exit code 8, or 9 if no code is known). Add it with ' +
    '`inventory codes add`, and count the same file again. ' +
    'Without a terminal, --yes or --to is needed. A mistaken line, such as = 42, is ' +
    'reported with its number, and nothing is written (exit code 2).',
  options: countOptions,
  examples: [
    ['petstock inventory count', 'scan or type, then done'],
    ['petstock inventory count aisle-3.txt', 'into a file of your own, or to continue it'],
    ['petstock inventory count --add --ref N-881', 'a delivery'],
    ['petstock inventory count --codes codes.csv --to counted.csv', 'a file to check and apply later'],
    ['petstock inventory count scans.txt --yes', 'in a script'],
    ['cat aisle-3.txt aisle-4.txt | petstock inventory count --yes', 'two shelves of the same pets'],
    ['petstock inventory count --sheet > sheet.html', 'a sheet to print and fill in by hand'],
  ],
  run: async (invocation, flags, file?: string) => {
    if (flags.sheet) {
      if (file !== undefined) throw new UsageError("--sheet can't be combined with a file");
      const { printSheet } = await import('./count/sheet.ts');
      return printSheet(invocation);
    }
    if (invocation.results.format === 'html') {
      throw new UsageError('-o html is only for the sheet', { hint: 'petstock inventory count --sheet -o html' });
    }
    const options = parseCountFlags(invocation, flags, file);
    const { runCount } = await import('./count/run-count.ts');
    await runCount(invocation, options);
  },
});
