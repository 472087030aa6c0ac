import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runEvery } from '../../support/every-command.ts';
import { runProgram, serve, temporaryHome } from '../../support/program.ts';

/** Returns a command of python3 that reads each text to its end. */
const python = (read: string) => [
  'python3',
  '-c',
  `import csv, json, sys\ndef rows(text, **dialect):\n  lines = list(csv.reader(text.splitlines(True), strict=True, **dialect))\n` +
    `  assert len({len(line) for line in lines}) <= 1, lines\nfor text in json.load(sys.stdin):\n  ${read}`,
];

/** Programs that read a format to its end, or fail. */
const readers = {
  json: [['jq', '-e', 'map(fromjson)'], python('json.loads(text)')],
  ndjson: [
    ['jq', '-e', 'map(split("\\n")[:-1] | map(fromjson))'],
    python('[json.loads(line) for line in text.splitlines()]'),
  ],
  csv: [python('rows(text)')],
  tsv: [python('rows(text, delimiter="\\t", quoting=csv.QUOTE_NONE)')],
} as const;

// Each test starts the program some fifty times.
test.each(Object.entries(readers))(
  'prints %s in every command in a form that other programs can read',
  {
    timeout: 240_000,
  },
  async (format, programs) => {
    const home = temporaryHome();
    const { env } = await serve();
    const run = (argv: readonly string[], stdin: string) => runProgram(argv, { home, env, stdin });
    const outputs = await runEvery(run, home.folder, format);
    for (const { name, code, expectedCode, stderr } of outputs) {
      expect({ name, code, stderr }).toEqual({ name, code: expectedCode, stderr });
    }
    const input = JSON.stringify(outputs.filter(({ code }) => code === 0).map(({ stdout }) => stdout));
    for (const [program = '', ...args] of programs) {
      const { status, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
      expect({ program, status, stderr }).toEqual({ program, status: 0, stderr: '' });
    }
  },
);
