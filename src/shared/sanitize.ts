/**
 * Text from the service is never trusted. Before it reaches a terminal, everything that could move the cursor, rename
 * the window, or hide or reverse text is removed: whole escape sequences, then all control characters, then bidi
 * overrides.
 */

/**
 * Matches OSC, DCS, SOS, PM and APC up to their terminator. The start of another sequence also ends them, so that the
 * search stays linear.
 */
const stringSequence = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)/.source;
/** Matches CSI: parameters, intermediates, final byte. */
const controlSequence = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/.source;
/** Matches other escapes: intermediates and a final byte. */
const shortSequence = /\x1b[ -/]*[0-~]/.source;
const sequences = `${stringSequence}|${controlSequence}|${shortSequence}`;
const bidi = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

const everything = new RegExp(`${sequences}|[\\x00-\\x1f\\x7f-\\x9f${bidi}]`, 'g');
const allButLines = new RegExp(`${sequences}|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f${bidi}]`, 'g');
const suspect = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Removes escape sequences, control characters (including line ends) and bidi overrides. */
export function stripControls(text: string): string {
  return suspect.test(text) ? text.replace(everything, '') : text;
}

/** Like `stripControls`, but keeps line feeds and tabs, for a whole body. */
export function stripControlsFromBody(text: string): string {
  return suspect.test(text) ? text.replace(allButLines, '') : text;
}

/** Like `stripControls`, but on one line: line ends and tabs become a space. */
export function singleLine(text: string): string {
  if (!suspect.test(text)) return text;
  return stripControls(text.replace(/[\t\n\v\f\r\x85\u2028\u2029][\s\x85]*/g, ' '));
}

/** Reports whether a text has no visible character. */
export function isBlank(text: string): boolean {
  return singleLine(text).trim() === '';
}

/** Maximum length of a name, in characters. */
const maxName = 100;
/**
 * Returns the name of a run, a machine or a user for a sentence: at most 100 characters. A character that names don't
 * have becomes `�`. Names of pets are never changed: a name that is not plain is printed last, after a bar.
 */
export function plainName(text: string): string {
  // Matches characters that names don't have. Without a colon, or a letter that looks like one, a name can't pass for
  // the label of a message. The pattern takes 5 M instructions to compile.
  const notInNames =
    /[^\p{L}\p{M}\p{N}\p{Pd}\p{Pi}\p{Pf}\p{Sc}\p{Extended_Pictographic}\p{RI}\p{EMod}\u{e0020}-\u{e007f} ._@'"\u201a\u201e\u2026()/\\&,+#~?!%*\xb0\xb7\xd7\u2192\u200d]|[\u02d0\u02d1\u0903\u0983\u0a83\u0b03\u0c03\u0c83\u0d03\ua4fd]/gu;
  const name = singleLine(text.slice(0, 2 * maxName + 1)).replace(notInNames, '\ufffd');
  return name.length > maxName ? `${name.slice(0, maxName - 1)}…` : name;
}

/** Reports whether `plainName` would leave a text unchanged. */
export function isPlainName(text: string): boolean {
  return plainName(text) === text;
}

const mask = '[key]';

/**
 * Minimum length of a secret. A shorter one is not a key, and a word of three letters would be removed from every
 * sentence.
 */
const shortest = 4;

/**
 * Returns a function that replaces secrets of at least four characters in text by `[key]`, in upper or lower case: as
 * they are, as in JSON, percent-encoded as in a URL, and in base64.
 */
export function redactorOf(secrets: Iterable<string>): (text: string) => string {
  const kept = [...secrets].filter(({ length }) => length >= shortest);
  if (kept.length === 0) return (text) => text;
  // A longer form first, because another one may be a part of it.
  const forms = [...new Set(kept.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  const any = new RegExp(forms.map(literal).join('|'), 'gi');
  return (text) => text.replace(any, mask);
}

function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inBase64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [secret, inJson, encodeURIComponent(secret), inBase64];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
