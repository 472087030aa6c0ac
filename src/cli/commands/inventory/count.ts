import { withPage } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { define } from '../define.ts';
import { countOptions, parseCountFlags } from './count/count-options.ts';

export const defineCount = define({
  formats: withPage,
  operands: { '[session]': 'the unfinished session to resume' },
  description:
    'Counts the shop, with a bar code scanner or by hand. Every scan is on disk before it is shown as counted, so that a count can ' +
    'continue after a crash. At the end the count is shown beside the current stock and, after a confirmation, written as ' +
    'a run that can be resumed and undone. Count while the shop is closed, or one shelf at a time: ' +
    'on a terminal, petstock asks you to count a pet again if its stock has changed meanwhile, but scans from a pipe are not checked. With --add or --take the sums are added to the stock or subtracted from it. This is safe while other tills change the stock. ' +
    'Sends one request for the stock, and one per pet whose stock changes; on a terminal and with --all one more at the beginning.\n\n' +
    'A line is one of:\n' +
    '  42        counts one unit of pet 42, or of the pet with that bar code\n' +
    '  42 x3     counts three units; so does 42*3\n' +
    '  -         cancels the last line\n' +
    '  = 42 7    sets pet 42 to seven units in all\n' +
    '  code 42   assigns the unknown code before it to pet 42\n' +
    '            a blank line shows the sum\n' +
    '  done      ends the count, like Ctrl-D\n\n' +
    'An unknown code beeps and is kept separately: it is listed at the end, and stays in the session (exit code 8, or 9 if no code is known). ' +
    'To resume it: count <session> --codes <file>. To drop it: = <code> 0. ' +
    'Without a terminal, scans come from stdin, and --yes or --to is needed. An invalid line, such as = 42, is ' +
    'reported with its line number, and nothing is written (exit code 2).',
  options: countOptions,
  examples: [
    ['petstock inventory count', 'scan or type, then done'],
    ['petstock inventory count --codes codes.csv', 'with bar codes'],
    ['petstock inventory count --new --add --ref N-881', 'a delivery'],
    ['petstock inventory count --new --codes codes.csv --to counted.csv', 'a file to check and apply later'],
    ['petstock inventory count --new --yes --codes codes.csv < scans.txt', 'in a script'],
    ['petstock inventory count --label "aisle 3"', 'one of several sessions, by name'],
    ['petstock inventory count --sheet > sheet.html', 'a sheet to print and fill in by hand'],
    ['petstock inventory count --list', 'which sessions are open?'],
    ['petstock inventory count <session>', 'resume after Ctrl-C or a crash'],
    ['petstock inventory count --merge <session> <session>', 'what two people have counted'],
  ],
  action: async (invocation, flags, session?: string) => {
    const { list = false, closed = false, discard, sheet = false } = flags;
    if (sheet) {
      if (session !== undefined || list || discard !== undefined)
        throw new UsageError("--sheet can't be combined with a session, --list or --discard");
      const { printSheet } = await import('./count/sheet.ts');
      return printSheet(invocation);
    }
    if (invocation.results.format === 'html') {
      throw new UsageError('-o html is only for the sheet', { hint: 'petstock inventory count --sheet -o html' });
    }
    if (list || discard !== undefined) {
      if (session !== undefined || (list && discard !== undefined)) {
        throw new UsageError("A session, --list and --discard can't be combined. Leave out all but one", {
          hint: 'petstock inventory count --list',
        });
      }
      const { listSessions, discardSession } = await import('./count/list-sessions.ts');
      return discard === undefined ? listSessions(invocation, closed) : discardSession(invocation, discard);
    }
    const options = parseCountFlags(invocation, flags, session);
    const { runCount } = await import('./count/run-count.ts');
    await runCount(invocation, options);
  },
});
