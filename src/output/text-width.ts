import { isPlainName, singleLine } from '../shared/sanitize.ts';

/**
 * Matches text whose characters take one column each and never join another one: ASCII, Latin letters, dashes, quotes,
 * arrows and box drawing. Most text matches.
 */
const plain = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2193\u2500-\u25fc]*$/;
/** Matches the sequences that `Paint` adds. */
const paintCode = /(\x1b\[[0-9;]*m)/;
const paintCodes = /\x1b\[[0-9;]*m/g;

/** Creates the patterns for the width of other text. They take 10 ms to compile, so they are created on first use. */
function makeUnicode() {
  return {
    segmenter: new Intl.Segmenter('en', { granularity: 'grapheme' }),
    /** Hangul vowels and final consonants join the letter before them. */
    invisible: /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]+$/u,
    emoji: /\p{Emoji_Presentation}|\ufe0f/u,
    /** Emoji, and the East Asian blocks whose characters take two columns. */
    wide: /\p{Emoji_Presentation}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]/u,
  };
}

let unicode: ReturnType<typeof makeUnicode> | undefined;

/**
 * Maximum number of code units that are segmented at once. A single character can be as long as the text, so long text
 * is segmented in parts.
 */
const segmentedAtOnce = 512;

/**
 * Yields the characters of a text in linear time. A character with more than `segmentedAtOnce` code units counts as
 * several.
 */
function* graphemesOf(text: string): Generator<{ readonly segment: string; readonly index: number }> {
  unicode ??= makeUnicode();
  for (let start = 0; start < text.length; ) {
    const part = text.slice(start, start + segmentedAtOnce);
    const isLast = start + part.length === text.length;
    let held: { readonly segment: string; readonly index: number } | undefined;
    // The last character of a part may continue in the next one, so it is read again there, unless it is the whole
    // part.
    for (const { segment, index } of unicode.segmenter.segment(part)) {
      if (held !== undefined) yield held;
      held = { segment, index: start + index };
    }
    if (held === undefined) return;
    if (isLast || held.index === start) yield held;
    start = isLast || held.index === start ? held.index + held.segment.length : held.index;
  }
}

/**
 * Returns how many columns of a terminal the text takes. It may be painted, but must have no other control characters.
 */
export function visibleWidth(text: string): number {
  if (plain.test(text)) return text.length;
  const bare = text.replace(paintCodes, '');
  if (plain.test(bare)) return bare.length;
  let width = 0;
  for (const { segment } of graphemesOf(bare)) width += graphemeWidth(segment);
  return width;
}

/** Truncates the text to at most `width` columns, with a `…` at the end if necessary. Paint stays balanced. */
export function truncate(text: string, width: number): string {
  if (fits(text, width)) return text;
  let room = Math.max(0, width - 1);
  let cut = false;
  let result = '';
  for (const part of text.split(paintCode)) {
    if (paintCode.test(part)) {
      result += part;
      continue;
    }
    if (cut) continue;
    const head = headOf(part, room);
    result += head;
    room -= visibleWidth(head);
    cut = head.length < part.length;
    if (cut && width > 0) result += '…';
  }
  return result;
}

/** Reports whether a text fits into a width. Reads no further than necessary. */
function fits(text: string, width: number): boolean {
  const bare = text.includes('\x1b') ? text.replace(paintCodes, '') : text;
  return headOf(bare, width).length === bare.length;
}

/** Wraps text without paint, at spaces if possible. A line has at most `room` columns, but at least one character. */
export function wrap(text: string, room: number, widthOf = graphemeWidth): string[] {
  const width = Math.max(1, room);
  const lines: string[] = [];
  let rest = text;
  while (rest !== '') {
    // Few characters have more than 16 code units; reading no further keeps the time linear.
    const start = Number.isFinite(width) ? rest.slice(0, (width + 1) * 16) : rest;
    const head = headOf(start, width, widthOf) || String.fromCodePoint(start.codePointAt(0) ?? 0);
    if (head.length === rest.length) break;
    const space = rest[head.length] === ' ' ? head.length : head.lastIndexOf(' ');
    lines.push(space > 0 ? rest.slice(0, space) : head);
    rest = rest.slice(space > 0 ? space + 1 : head.length);
  }
  return rest === '' && lines.length > 0 ? lines : [...lines, rest];
}

export const bar = '│ ';

/** Returns a name from outside, with a bar in front if it could be mistaken for petstock's words. */
export function barredName(name: string): string {
  return isPlainName(name) ? name : bar + singleLine(name);
}

/**
 * Wraps quoted text, with a bar in front of each line, so that none can look like a message of petstock. The text keeps
 * its own line ends.
 */
export function barred(text: string, width = Number.POSITIVE_INFINITY): string[] {
  return text.split('\n').flatMap((line) => wrap(line, width - bar.length, widestForm).map((part) => bar + part));
}

/**
 * Wraps a message for a terminal, between words. Every line but the first is indented, so only petstock's lines start
 * at the edge. A command at the end gets a line of its own and is never wrapped, so that it can be copied.
 * @param text one line without paint
 */
export function messageLines(text: string, width: number): string[] {
  if (fits(text, width)) return [text];
  const indent = blanks(Math.max(2, text.length - text.trimStart().length));
  const [, words = text, command] = /^(.*?:) (petstock .*)$/.exec(text) ?? [];
  const [first = '', ...others] = wrap(words, width);
  const rest = words.slice(first.length).trimStart();
  const lines = others.length === 0 ? [] : wrap(rest, width - indent.length);
  return [first, ...[...lines, ...(command === undefined ? [] : [command])].map((line) => indent + line)];
}

/** Returns as much of the start of a text as fits, in whole characters. */
function headOf(text: string, width: number, widthOf = graphemeWidth): string {
  if (plain.test(text)) return text.slice(0, width);
  let used = 0;
  let end = 0;
  for (const { segment, index } of graphemesOf(text)) {
    used += widthOf(segment);
    if (used > width) return text.slice(0, index);
    end = index + segment.length;
  }
  return text.slice(0, end);
}

function graphemeWidth(grapheme: string): number {
  unicode ??= makeUnicode();
  return unicode.emoji.test(grapheme) ? 2 : widestForm(grapheme);
}

/**
 * Returns the width of a character on a terminal that joins no characters, so that the parts of an emoji or a syllable
 * are next to each other.
 */
function widestForm(grapheme: string): number {
  unicode ??= makeUnicode();
  let width = 0;
  for (const character of grapheme) {
    width += unicode.wide.test(character) ? 2 : unicode.invisible.test(character) ? 0 : 1;
  }
  return width;
}

/** Pads the text with spaces on the left to `width` columns. */
export function padStart(text: string, width: number): string {
  return blanks(width - visibleWidth(text)) + text;
}

/** Pads the text with spaces on the right to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + blanks(width - visibleWidth(text));
}

const someBlanks = Array.from({ length: 64 }, (_, count) => ' '.repeat(count));

/** Returns `count` spaces; none if it is negative. */
export function blanks(count: number): string {
  return count <= 0 ? '' : (someBlanks[count] ?? ' '.repeat(count));
}
