import type { TopicName } from './topic-names.ts';

export const topics: Readonly<Record<TopicName, string>> = {
  'exit-codes': `Exit codes

   0  ok
   1  failure       an answer that makes no sense, a full disk, a defect
   2  usage         arguments, settings, a file that is not valid, a confirmation that was refused or could not be asked
   3  changes       only with --exit-code: a dry run found changes
   4  auth          no key, or the service did not accept it (401)
   5  unavailable   network, time-out, or 5xx after all retries
   6  rate-limited  the wait would be longer than --max-wait, the day's quota is spent, or the key is banned
   7  conflict      the stock is not what was expected; nothing was written
   8  partial       a bulk run in which some rows were written and some were not
   9  not-found     404, or no such pet in the list
  10  rejected      400, or another 4xx
 130  interrupted   Ctrl-C

Errors are two lines on stderr: "Error: …" and, where there is something to do, "Hint: petstock …".
With --json they are one JSON object on stderr, and stdout stays empty, but for the report of a bulk run, and for what
has been printed of a long list that breaks off: it has no closing bracket.
  {"error":{"code":"not_found","message":"…","status":404,"exitCode":9,"hint":"…"}}
`,
  environment: `Environments, keys and variables

Which environment: --env, PETSTOCK_ENV, the setting default-env, staging.
Which key:         PETSTOCK_API_KEY_STAGING or _PRODUCTION, PETSTOCK_API_KEY, the stored key (config set-key).
Which address:     PETSTOCK_URL_STAGING or _PRODUCTION, the stored one (config set-url). There is no default.
Which folders:     PETSTOCK_CONFIG_DIR and PETSTOCK_STATE_DIR, else the platform's own (XDG on Linux).
Colour:            --color, FORCE_COLOR, NO_COLOR, TERM=dumb, is it a terminal.

An address is https, or http on this machine (loopback), and ends in /v1.
--env sandbox needs neither key nor address: it is a real service on this machine, started for one command.
`,
  output: `Output

  -o table   for people; the default on a terminal. Low and empty stock is marked (setting low-stock)
  -o tsv     the default elsewhere: no header; tab, line end and backslash in a value are \\t \\n \\r \\\\
  -o csv     with a header, quoted as in RFC 4180, lines end in LF
  -o json    one array or object; ids are numbers with every digit, so read them with a parser that keeps int64
  -o ndjson  one object a line

--header and --no-header change what csv, tsv and table do. --fields chooses the columns.
stdout carries the result and nothing else. Banner, rate limit, warnings, questions and errors are on stderr;
--quiet leaves only errors there.
`,
  files: `Files

Configuration (petstock config path): settings, addresses and keys. Mode 0600, in a folder of mode 0700.
State: in PETSTOCK_STATE_DIR, else $XDG_STATE_HOME/petstock or ~/.local/state/petstock on Linux:
  limits/      for each key a ledger of requests and of what the service said of its limits, shared by all commands
  history/     every change of stock that this machine has made, a file a run (petstock history list)
  sandbox.db   the stock of the sandbox
  sandbox.key  the key of the sandbox
Keys are kept in these two files alone, both of mode 0600; elsewhere a hash stands for them. A ledger may be deleted:
then what the service said is forgotten, a time to wait included. A history grows by about 250 bytes a change;
petstock history prune removes what is old.

Change files (petstock inventory apply): CSV or TSV (, ; tab or | between cells), JSON or NDJSON, in UTF-8.
  petId (or id)                                 every digit counts; ="123" and '123 are read as 123
  quantity (or qty), or delta (or adjust)       the new stock, or what to add; blank: no change, never 0
  expected                                      write only if the stock is this
  reason, ref                                   for the history
  status                                        ignored; any other column is refused
In any order; upper and lower case, spaces, _ and - make no difference. From a spreadsheet, save as "CSV UTF-8", and format
ids as text first, or begin with petstock inventory export --spreadsheet.
`,
};
