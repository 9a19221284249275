const MASK = '***';
/** A shorter value is no secret, and a shorter beginning of one reveals nothing. */
const LEAST = 4;
/** Escapes of one character in JSON, HTML or a URL; several of the URL's where UTF-8 needs them. */
const WRITTEN =
  /\\u[\da-f]{4}|\\["\\/bfnrt]|&(?:amp|apos|gt|lt|quot);|&#\d{1,7};|&#x[\da-f]{1,6};|%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi;
/** An escape that is cut off at the end. */
const CUT = /(?:\\(?:u[\da-f]{0,3})?|&(?:#?x?[\da-f]{0,7}|[a-z]{1,4})|(?:%[\da-f]{2}){0,3}(?:%[\da-f]?)?)$/i;
const NAMED: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };
const SHORT: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * A text with its escapes decoded. `starts`: the index in the original at which each character begins, the last is its
 * length; absent if nothing was decoded. `ends`: where it ends, with and without an escape that is cut off.
 */
type DecodedText = { text: string; starts?: readonly number[]; ends: readonly number[] };
type TextRange = [from: number, to: number];

/**
 * Masks the secrets that a receiver was sent in its answer: as they are, and as JSON, HTML, forms and URLs escape them, twice too. Masks
 * the beginning of a secret at the end of the text too. Takes linear time: an attacker may choose text and secrets.
 */
export function masked(text: string, secrets: readonly string[]): string {
  if (text.length < LEAST) return text;
  const spans: TextRange[] = [];
  const readings = readingsOf(text);
  for (const secret of new Set(secrets)) {
    if (secret.length >= LEAST) for (const reading of readings) addSpans(spans, secret, reading);
  }
  if (spans.length === 0) return text;
  let [shown, at] = ['', 0];
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    // Overlapping ranges become one.
    if (from >= at) shown += text.slice(at, from) + MASK;
    at = Math.max(at, to);
  }
  return shown + text.slice(at);
}

/** The secrets in the query of a callback URL: all values, including those without a name. */
export function secretsOfQuery(search: string): string[] {
  return search
    .slice(1)
    .split('&')
    .map((parameter) => decoded(parameter.slice(parameter.indexOf('=') + 1).replaceAll('+', ' ')));
}

/**
 * Returns the text as it is, with escapes decoded, decoded as a form, where a plus is a blank, and with double escapes decoded.
 */
function readingsOf(text: string): DecodedText[] {
  const plain = { text, ends: endsOf(text) };
  if (!/[%&+\\]/.test(text)) return [plain];
  const once = readingOf(text);
  const readings = [plain, once, readingOf(text.replaceAll('+', ' '))];
  return once.text === text ? readings : [...readings, readAgain(once)];
}

function readingOf(written: string): DecodedText {
  const starts: number[] = [];
  let [text, at] = ['', 0];
  const copyUntil = (end: number) => {
    text += written.slice(at, end);
    while (at < end) starts.push(at++);
  };
  for (const { 0: escape, index } of written.matchAll(WRITTEN)) {
    copyUntil(index);
    const meant = characterOf(escape);
    text += meant;
    for (let unit = 0; unit < meant.length; unit += 1) starts.push(index);
    at = index + escape.length;
  }
  copyUntil(written.length);
  return { text, starts: [...starts, written.length], ends: endsOf(text) };
}

/** Decodes JSON within JSON text, or a URL within the query of another. */
function readAgain(once: DecodedText): DecodedText {
  const twice = readingOf(once.text);
  return { ...twice, starts: (twice.starts ?? []).map((at) => once.starts?.[at] ?? at) };
}

function endsOf(text: string): number[] {
  const cut = CUT.exec(text)?.[0].length ?? 0;
  return cut === 0 ? [text.length] : [text.length, text.length - cut];
}

function characterOf(escape: string): string {
  const [kind, second = ''] = escape;
  if (kind === '%') return decoded(escape);
  if (kind === '&') {
    const name = escape.slice(1, -1).toLowerCase();
    const point = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return NAMED[name] ?? (point <= 0x10_ff_ff ? String.fromCodePoint(point) : escape);
  }
  if (escape.length > 2) return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  return SHORT[second] ?? second;
}

/** The time of `indexOf` grows with the product of both lengths; in such as these it is the faster all the same. */
const SHORT_SECRET = 64;

/**
 * Adds the ranges of the original where a decoded text contains the secret, or ends with its beginning: by the algorithm of Knuth, Morris
 * and Pratt.
 */
function addSpans(spans: TextRange[], secret: string, { text, starts, ends }: DecodedText): void {
  // Most texts have nothing of it.
  const first = text.indexOf(secret.slice(0, LEAST));
  if (first === -1) return;
  const start = (at: number) => starts?.[at] ?? at;
  const add = (at: number) => spans.push([start(at), start(at + secret.length)]);
  const isShort = secret.length <= SHORT_SECRET;
  if (isShort)
    for (let at = text.indexOf(secret, first); at >= 0; at = text.indexOf(secret, at + secret.length)) add(at);
  const sought = { secret, borders: bordersOf(secret) };
  let length = 0;
  for (let at = isShort ? Math.max(first, Math.min(...ends) - secret.length) : first; at < text.length; at += 1) {
    length = longerBy(text.charCodeAt(at), length, sought);
    const end = at + 1;
    if (length === secret.length) {
      add(end - length);
      length = sought.borders[length - 1] ?? 0;
    }
    if (length >= LEAST && ends.includes(end)) spans.push([start(end - length), start(text.length)]);
  }
}

type Sought = { secret: string; borders: readonly number[] };

/** For each beginning of the secret, the length of the longest shorter one that it ends with. */
function bordersOf(secret: string): number[] {
  const borders = [0];
  const sought = { secret, borders };
  for (let at = 1; at < secret.length; at += 1)
    borders.push(longerBy(secret.charCodeAt(at), borders[at - 1] ?? 0, sought));
  return borders;
}

/** Given a text that ends with `length` units of the secret, returns how many it ends with after one more code unit. */
function longerBy(unit: number, length: number, { secret, borders }: Sought): number {
  let left = length;
  while (left > 0 && secret.charCodeAt(left) !== unit) left = borders[left - 1] ?? 0;
  return secret.charCodeAt(left) === unit ? left + 1 : 0;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const CONFIDENTIAL = /cookie|location|auth|token|secret|key|session|password|credential/i;

/**
 * Masks headers that may be secrets of the receiver, in the beginning of an invalid response. Of a valid one no header is
 * kept.
 */
export function maskedHead(text: string): string {
  let [isHidden, isOver] = [false, false];
  const shown = text.split('\n').map((line) => {
    isOver ||= line === '' || line === '\r';
    if (isOver) return line;
    // A line that begins with a blank continues the one before.
    const colon = /^[ \t]/.test(line) ? 0 : line.indexOf(':') + 1;
    if (!/^[ \t]/.test(line)) isHidden = CONFIDENTIAL.test(line.slice(0, colon));
    return isHidden ? `${line.slice(0, colon)} ***${line.endsWith('\r') ? '\r' : ''}` : line;
  });
  return shown.join('\n');
}
