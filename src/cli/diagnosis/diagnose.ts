import process from 'node:process';
import type { Invocation } from '../invocation/invocation.ts';
import type { SeenHead } from '../invocation/transport.ts';
import { type CompletionFacts, completionFacts } from './completion.ts';
import { type FolderFacts, folderFacts } from './folders.ts';
import { type ProgramFacts, programFacts } from './program.ts';
import { type ClockFacts, clockFacts } from './service-clock.ts';
import { type StateFacts, stateFacts } from './state-facts.ts';
import { type TerminalFacts, terminalFacts } from './terminal.ts';

/** What a report of a fault needs. It holds no secret: of variables that may have one only the name is there. */
export interface Diagnosis {
  readonly program: ProgramFacts;
  readonly folders: { readonly config: FolderFacts; readonly state: FolderFacts };
  readonly state: StateFacts;
  /** null: nothing was sent, or the answer had no `Date`. */
  readonly clock: ClockFacts | null;
  readonly tls: TlsFacts;
  readonly terminal: TerminalFacts;
  readonly completion: readonly CompletionFacts[];
  /** The names of the variables that are set and count. */
  readonly variables: readonly string[];
}

interface TlsFacts {
  readonly openssl: string;
  /** The setting `ca-file`. */
  readonly caFile: string | null;
  /** `NODE_EXTRA_CA_CERTS` */
  readonly extraCaFile: string | null;
  readonly checksCertificates: boolean;
}

/** @param head of the latest answer; undefined: there was none */
export async function diagnose(invocation: Invocation, head: SeenHead | undefined): Promise<Diagnosis> {
  const { context, config } = invocation;
  const { env, folders } = context;
  return {
    program: programFacts(),
    folders: { config: folderFacts(folders.config), state: folderFacts(folders.state) },
    state: await stateFacts(invocation),
    clock: (head && clockFacts(head)) ?? null,
    tls: {
      openssl: process.versions.openssl ?? 'not known',
      caFile: config.settings['ca-file'] ?? null,
      extraCaFile: env.NODE_EXTRA_CA_CERTS || null,
      checksCertificates: env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',
    },
    terminal: terminalFacts(context),
    completion: completionFacts(env),
    variables: Object.keys(env).filter(counts).sort(),
  };
}

const others =
  /^(https?|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)$|^(NO_COLOR|FORCE_COLOR|PAGER)$/i;

function counts(name: string): boolean {
  return name.startsWith('PETSTOCK_') || others.test(name);
}
