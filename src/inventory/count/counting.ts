import type { ErrorFault } from '../../shared/errors.ts';
import { quoted } from '../../shared/parsed.ts';
import { type BarCodes, isArticleNumber, knownCode, petOfCode, petOfText } from '../bar-codes.ts';
import { counted, grouped, mayBeBarCode } from '../items.ts';
import { isCalled, petsNear, petsOfLine } from '../pet-names.ts';
import {
  codeText,
  hasControls,
  isHelpWord,
  isWord,
  type KnownTexts,
  parseScanLine,
  petIdOfCode,
  type ScanLine,
  type ScannedUnits,
} from './scan-line.ts';
import { type CountStep, Tally } from './tally.ts';

export type CountEvent =
  | { readonly kind: 'counted'; readonly code: string; readonly step: CountStep }
  | { readonly kind: 'unknown'; readonly code: string; readonly why: string; readonly units: number }
  | { readonly kind: 'cancelled'; readonly step: CountStep }
  | { readonly kind: 'nothingToCancel' }
  /** A mistaken line. */
  | { readonly kind: 'wrong'; readonly code: string; readonly why: string }
  /** A line that had counted nothing was cancelled. */
  | { readonly kind: 'lineCancelled'; readonly line: string }
  /** A question that was left without an answer. */
  | { readonly kind: 'unanswered'; readonly code: string }
  /** The line has two meanings, so it counts nothing until the question is answered. */
  | { readonly kind: 'asked'; readonly question: ScanQuestion }
  /** The user has typed `help`, or a word that only looks like a command, such as `quit`. */
  | { readonly kind: 'help' }
  /** A word that was not counted, with the pets that have it in their names or, if there are none, a similar name. */
  | {
      readonly kind: 'word';
      readonly word: string;
      readonly named: readonly bigint[];
      readonly near: readonly bigint[];
    }
  | { readonly kind: 'sum' };

/** A line with several meanings. Each choice has lines that mean one thing only. */
export interface ScanQuestion {
  /** What was typed. */
  readonly code: string;
  readonly text: string;
  readonly choices: readonly ScanChoice[];
  /** What else the line may mean, for a message where no person can be asked. */
  readonly otherwise: string;
}

interface ScanChoice {
  /** The key that chooses it. */
  readonly key: string;
  readonly about: string;
  /** The lines to take instead; none to leave the line out. */
  readonly lines: readonly string[];
  /** Whether each later number beside scans is a pet id as well. */
  readonly isForAll?: boolean;
}

export interface CountKnown {
  readonly codes: BarCodes;
  /** The pets of the service; undefined if their list was not read yet. */
  readonly pets: ReadonlySet<bigint> | undefined;
}

/** What was taken of a line. */
export interface TakenLine {
  readonly events: readonly CountEvent[];
  /** The lines to keep in the file of the count: with one meaning each, and without those that count nothing. */
  readonly kept: readonly string[];
  readonly isDone: boolean;
}

/** A line that counts. */
type AddedLine = Extract<ScanLine, ScannedUnits>;

/** How lines are read. */
interface Reading {
  /** The number of the line in its file; undefined if it was typed. */
  readonly line?: number;
  /** Whether a line with two meanings is a question; otherwise it is a mistake. */
  readonly asks: boolean;
}

/** A line that `-` can cancel. It has counted a step, or is a fault. */
interface Entry {
  readonly text: string;
  readonly isInFile: boolean;
  readonly step?: CountStep;
  readonly fault?: ErrorFault;
  /** The code of a scan. */
  readonly code?: string;
  readonly isBarCode?: boolean;
  readonly isBare?: boolean;
}

/** Counts lines: the rules of a count, without its file, its screen and its service. */
export class Counting {
  readonly tally = new Tally();
  /** The codes by which each pet was counted. */
  readonly codesOfPets = new Map<bigint, Set<string>>();
  readonly #entries: Entry[] = [];
  /** The questions that were left without an answer. */
  readonly #unanswered: ErrorFault[] = [];
  #question: ScanQuestion | undefined;
  #hasBarCodes = false;
  #areNumbersIds = false;
  #lines = 0;

  constructor(readonly known: CountKnown) {}

  /** The mistaken lines, without cancelled ones. */
  get mistakes(): readonly ErrorFault[] {
    return [...this.#entries.flatMap(({ fault }) => fault ?? []), ...this.#unanswered];
  }

  /** The open question; the next line answers it. */
  get question(): ScanQuestion | undefined {
    return this.#question;
  }

  /** Whether a bar code was scanned, and not only ids and names. */
  get hasBarCodes(): boolean {
    return this.#hasBarCodes;
  }

  /** Takes note of whether a file has scans of bar codes. Call this before its lines are taken. */
  lookAhead(lines: readonly string[]): void {
    this.#hasBarCodes ||= lines.some((text) => {
      const line = parseScanLine(text, this.#texts);
      const read = line.kind === 'either' ? line.readings : line.kind === 'add' || line.kind === 'set' ? [line] : [];
      return read.some(({ code }) => this.#isBarCode(code));
    });
  }

  /** Takes a line of a file, or a typed one, or the answer to the open question. */
  take(text: string, reading: Reading = { asks: true }): TakenLine {
    this.#lines += 1;
    if (this.#question !== undefined) return this.#answer(this.#question, text, reading);
    const isTyped = reading.line === undefined;
    const line = parseScanLine(text, this.#texts);
    if (isTyped && line.kind === 'add') {
      const event = this.#wordOf(text, reading);
      if (event !== undefined) return taken([event]);
    }
    switch (line.kind) {
      case 'sum':
        return taken([{ kind: 'sum' }]);
      case 'done':
        return { ...taken([]), isDone: true };
      case 'comment':
        return taken([], isTyped ? [codeText(text)] : []);
      case 'back':
        return this.#cancelLast();
      case 'wrong':
        return taken([this.#ignore(codeText(text), line.problem, reading)]);
      case 'either':
        return this.#ask(this.#questionOfReadings(codeText(text), line.readings), reading);
      case 'many':
        return this.#askOfLast(line.units, codeText(text), reading);
      default: {
        const question = this.#questionOf(line);
        if (question !== undefined) return this.#ask(question, reading);
        if (isTyped && this.#isFirstBarCode(line)) return this.#countFirst(line, codeText(text), reading);
        // A typed number is kept with how many, so that it has one meaning wherever the file is read.
        const kept = line.isBare === true ? `${line.code} x1` : codeText(text);
        return taken([this.#count(line, kept)], [kept]);
      }
    }
  }

  /** Takes typed lines, up to the one that ends the count. */
  takeTyped(lines: readonly string[]): TakenLine {
    const parts: TakenLine[] = [];
    for (const line of lines) if (parts.at(-1)?.isDone !== true) parts.push(this.take(line));
    return joined(parts);
  }

  get #texts(): KnownTexts {
    const { codes } = this.known;
    const isName = (text: string) => isCalled(codes.names, text);
    return {
      isBarCode: (text) => knownCode(codes, text) !== undefined,
      isName,
      isPet: (text) => this.#onlyNamed(text) !== undefined,
    };
  }

  #isBarCode(code: string): boolean {
    const { codes, pets } = this.known;
    if (knownCode(codes, code) !== undefined) return true;
    const petId = petIdOfCode(code);
    return isArticleNumber(code) && !(petId !== undefined && pets?.has(petId) === true);
  }

  /**
   * Returns the event of a typed word that is neither a code nor a name of exactly one pet, or of a typed line with
   * control characters; undefined for any other text.
   */
  #wordOf(text: string, reading: Reading): CountEvent | undefined {
    const { codes } = this.known;
    const word = text.trim();
    if (codes.pets.has(word)) return undefined;
    if (hasControls(text))
      return this.#ignore(codeText(text), 'it contains a control character: scan it again', reading);
    if (isHelpWord(word)) return { kind: 'help' };
    const named = isWord(word) ? this.#named(word) : undefined;
    if (named === undefined || named.length === 1) return undefined;
    return { kind: 'word', word, named, near: named.length > 0 ? [] : petsNear(codes.names, word) };
  }

  #ignore(text: string, why: string, { line }: Reading): CountEvent {
    const fault = { line: line ?? this.#lines, message: `${quoted(text).slice(1, -1)}: ${why}` };
    this.#entries.push({ text, isInFile: line !== undefined, fault });
    return { kind: 'wrong', code: text, why };
  }

  /**
   * Returns the question about a number of one to three digits beside scans of bar codes: it may be a pet id, or how
   * many of the scan before it. Undefined for any other line.
   */
  #questionOf({ code, isBare }: AddedLine): ScanQuestion | undefined {
    if (this.#areNumbersIds || isBare !== true || !this.#hasBarCodes) return undefined;
    const last = this.#entries.at(-1);
    return this.#questionOfNumber(code, last?.isBarCode === true ? last.code : undefined);
  }

  /** Asks whether `x3` is how many of the line before it. Without one it is a mistake. */
  #askOfLast(units: number, text: string, reading: Reading): TakenLine {
    const scanned = this.#entries.at(-1)?.code;
    if (scanned === undefined || units === 0) {
      return taken([this.#ignore(text, 'write the code and how many on one line, such as 94046 x3', reading)]);
    }
    const choices = [this.#choiceOfMany(units, scanned), neither];
    const question = { code: text, text: `${text}: is it how many of the line before?`, choices, otherwise: ofAScan };
    return this.#ask(question, reading);
  }

  #isFirstBarCode({ code, isBare }: AddedLine): boolean {
    return !this.#hasBarCodes && isBare !== true && this.#isBarCode(code);
  }

  /**
   * Counts the first bar code. A number before it may have been how many, so it is cancelled, and asked about. The scan
   * itself counts and is kept before that, whatever follows.
   */
  #countFirst(line: AddedLine, text: string, reading: Reading): TakenLine {
    this.#hasBarCodes = true;
    const last = this.#entries.at(-1);
    const number = last?.isBare === true && !this.#areNumbersIds ? last.code : undefined;
    if (number === undefined) return taken([this.#count(line, text)], [text]);
    const cancelled = this.#cancelLast();
    const scanned = this.#count(line, text);
    const asked = this.#ask(this.#questionOfNumber(number, line.code), reading);
    return taken([...cancelled.events, scanned, ...asked.events], [...cancelled.kept, text]);
  }

  /** @param scanned the code of the last scan, if the number may be how many of it */
  #questionOfNumber(number: string, scanned: string | undefined): ScanQuestion {
    const petId = this.#petOf(number);
    const lines = [`${number} x1`];
    const pet: ScanChoice[] =
      petId === undefined
        ? []
        : [
            { key: 'p', about: `pet ${this.#nameOf(petId)}`, lines },
            { key: 'a', about: 'so is each number in this count', lines, isForAll: true },
          ];
    const many = scanned === undefined || Number(number) === 0 ? [] : [this.#choiceOfMany(Number(number), scanned)];
    const text = `${number} beside scans: is it a pet, or how many?`;
    return { code: number, text, choices: [...pet, ...many, neither], otherwise: ofAScan };
  }

  #choiceOfMany(units: number, scanned: string): ScanChoice {
    const about = `${counted(units * this.#sizeOf(scanned), 'unit')} of ${this.#nameOfCode(scanned)}`;
    return { key: 'x', about, lines: ['-', `${scanned} x${units}`] };
  }

  #questionOfReadings(text: string, readings: readonly ScannedUnits[]): ScanQuestion {
    const choices = readings.map(({ code, units }, index): ScanChoice => {
      const all = units * this.#sizeOf(code);
      const sum = this.tally.unitsOf(this.#petOf(code) ?? code) + all;
      const about = `${grouped(all)} of ${this.#nameOfCode(code)}`;
      return { key: `${index + 1}`, about, lines: [`= ${code} ${sum}`] };
    });
    const question = `${text}: what was counted?`;
    return { code: text, text: question, choices: [...choices, neither], otherwise: 'a code that is not known' };
  }

  #nameOf(petId: bigint): string {
    return `${petId} ${this.known.codes.names.get(petId) ?? ''}`.trimEnd();
  }

  /** Returns how many units a scan of a code counts. */
  #sizeOf(code: string): number {
    const { codes } = this.known;
    return codes.units.get(knownCode(codes, code) ?? '') ?? 1;
  }

  #nameOfCode(code: string): string {
    const petId = this.#petOf(code);
    const unnamed = /^\d{1,3}$/.test(code) ? `pet ${code}` : code;
    return petId === undefined ? code : (this.known.codes.names.get(petId) ?? unnamed);
  }

  #ask(question: ScanQuestion, reading: Reading): TakenLine {
    if (!reading.asks) {
      const meanings = question.choices.flatMap(({ about, lines, isForAll }) =>
        isForAll === true || lines.length === 0 ? [] : `${about} (write ${lines.at(-1)})`,
      );
      if (meanings.length < 2) meanings.push(question.otherwise);
      return taken([this.#ignore(question.code, `it may be ${meanings.join(' or ')}`, reading)]);
    }
    this.#question = question;
    return taken([{ kind: 'asked', question }]);
  }

  /** Takes the answer to a question. Any other line that counts leaves the question, so that no scan is lost. */
  #answer(question: ScanQuestion, text: string, reading: Reading): TakenLine {
    const word = codeText(text);
    const choice = question.choices.find(({ key }) => key === word.toLowerCase());
    if (choice === undefined) {
      const isAnswer = reading.line !== undefined || word === '' || (isWord(word) && !this.#isLine(word));
      if (isAnswer) return taken([{ kind: 'asked', question }]);
      return joined([this.leaveQuestion(), this.take(text, reading)]);
    }
    this.#question = undefined;
    this.#areNumbersIds ||= choice.isForAll === true;
    return joined(choice.lines.map((line) => this.take(line, reading)));
  }

  /** Reports whether a word ends the count or is a pet, so that it can't be a mistyped answer. */
  #isLine(word: string): boolean {
    return /^done$/i.test(word) || this.known.codes.pets.has(word) || this.#onlyNamed(word) !== undefined;
  }

  /** Leaves the open question without an answer, if there is one. The file keeps a comment about it. */
  leaveQuestion(): TakenLine {
    if (this.#question === undefined) return taken([]);
    const { code, text } = this.#question;
    this.#question = undefined;
    this.#unanswered.push({ line: this.#lines, message: `${text} Not answered, so not counted` });
    return taken([{ kind: 'unanswered', code }], [`# ${code}: not answered, so not counted`]);
  }

  #cancelLast(): TakenLine {
    const last = this.#entries.pop();
    const kept = last?.isInFile === true ? ['-'] : [];
    if (last?.fault !== undefined) return taken([{ kind: 'lineCancelled', line: last.text }], kept);
    if (last?.step === undefined) return taken([{ kind: 'nothingToCancel' }], kept);
    this.tally.takeBack(last.step);
    return taken([{ kind: 'cancelled', step: last.step }], kept);
  }

  #count({ kind, code, units, problem, isBare = false }: AddedLine, text: string): CountEvent {
    const { codes } = this.known;
    const pet = problem === undefined ? this.#petOf(code) : undefined;
    const what = pet ?? (problem === undefined ? (knownCode(codes, code) ?? code) : code);
    const step = this.tally[kind](what, kind === 'add' ? units * this.#sizeOf(code) : units);
    const scanned = kind === 'add' ? { code } : {};
    this.#entries.push({ text, isInFile: true, step, ...scanned, isBarCode: this.#isBarCode(code), isBare });
    if (pet === undefined) return { kind: 'unknown', code, why: problem ?? this.#whyUnknown(code), units: step.after };
    if (code !== `${pet}`) this.codesOfPets.set(pet, (this.codesOfPets.get(pet) ?? new Set()).add(code));
    return { kind: 'counted', code, step };
  }

  #petOf(code: string): bigint | undefined {
    const { codes, pets } = this.known;
    const petId = petOfText(codes, code) ?? this.#onlyNamed(code);
    return petId === undefined || pets === undefined || pets.has(petId) ? petId : undefined;
  }

  #named(text: string): readonly bigint[] {
    return petsOfLine(this.known.codes.names, text);
  }

  #onlyNamed(text: string): bigint | undefined {
    const [petId, ...others] = this.#named(text);
    return others.length === 0 ? petId : undefined;
  }

  #whyUnknown(code: string): string {
    const petId = petOfCode(this.known.codes, code) ?? this.#onlyNamed(code);
    if (petId !== undefined) return `there is no pet ${petId}`;
    const named = this.#named(code).length;
    if (named > 0) return `${grouped(named)} pets have that name`;
    const id = petIdOfCode(code);
    return id === undefined || mayBeBarCode(id) ? 'not a known code' : 'there is no such pet';
  }
}

const neither: ScanChoice = { key: '-', about: 'neither', lines: [] };
/** What a number may mean besides the choices of its question. */
const ofAScan = 'how many of a scan (write its code and how many on one line)';

function joined(parts: readonly TakenLine[]): TakenLine {
  return {
    events: parts.flatMap(({ events }) => events),
    kept: parts.flatMap(({ kept }) => kept),
    isDone: parts.some(({ isDone }) => isDone),
  };
}

function taken(events: readonly CountEvent[], kept: readonly string[] = []): TakenLine {
  return { events, kept, isDone: false };
}
