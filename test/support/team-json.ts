/** What the tests of a team read of `history list --json`. */
export interface RunRecordJson {
  readonly run: string;
  readonly command: string;
  readonly user: string | null;
  readonly host: string;
  readonly state: string;
  readonly undoes: string | null;
  readonly counts: Readonly<Record<string, number>>;
}
