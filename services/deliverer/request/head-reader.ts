import {
  closing,
  MOST_HEADER_BYTES,
  NO_STATUS_LINE,
  readHead,
  readStatusLine,
  type BrokenRule,
  type ResponseHead,
} from './response-head.ts';

const BEGINNING = 'HTTP/';
const BLANKS = /^[ \t\v\f\r\n]+/;
const HEAD_END = /\n\r{0,2}\n/g;
const MOST_END_BYTES = 4;
const MOST_REMEMBERED = 2_048;
// Up to this length the whole status line is checked again with each byte that comes, then its beginning only.
const MOST_STATUS_LINE_BYTES = 16 * 1024;
const CR_ALONE = /\r[^\r\n]/;

/** Reads the heads of the responses that come over a connection, one after another. */
export class HeadReader {
  #isAwaited = false;
  #hasBegun = false;
  // The part of a head that has come, a character for each byte.
  #text = '';
  // A receiver's head stays the same until its Date shows the next second; reading it again would cost four times as much.
  #last: { text: string; head: ResponseHead | BrokenRule } = { text: '', head: NO_STATUS_LINE };
  readonly #keptS: number;
  readonly #isOld: () => boolean;

  /** `keptS`: a keep-alive timeout of this many seconds or more has no effect. `isOld`: whether this response is to be the last. */
  constructor(keptS = Infinity, isOld = () => false) {
    this.#keptS = keptS;
    this.#isOld = isOld;
  }

  /** A request begins: the next bytes are the head of its response. */
  expectResponse(): void {
    this.#isAwaited = true;
    this.#hasBegun = false;
    this.#text = '';
  }

  /** Whether the response to the last request has begun. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The part of a head that has come, or the bytes that were no head. */
  get held(): Buffer {
    return Buffer.from(this.#text, 'latin1');
  }

  /** Returns what to pass on of the next bytes; undefined until a head is complete. */
  read(chunk: Buffer): Buffer | undefined | BrokenRule {
    if (!this.#isAwaited) return chunk;
    let from = Math.max(0, this.#text.length - MOST_END_BYTES + 1);
    this.#text += chunk.toString('latin1');
    for (;;) {
      if (from === 0) this.#text = this.#text.replace(BLANKS, '');
      const text = this.#text;
      if (text === '') return undefined;
      if (!beginsLikeHttp(text)) return { brokenRule: 'it does not begin with HTTP/' };
      this.#hasBegun = true;
      HEAD_END.lastIndex = from;
      if (!HEAD_END.test(text)) return whyHopeless(text);
      const end = HEAD_END.lastIndex;
      if (headerBytes(text, end) > MOST_HEADER_BYTES) return TOO_LONG;
      const head = this.#readHead(text.slice(0, end));
      if ('brokenRule' in head) return head;
      this.#text = text.slice(end);
      if (head.status === 'interim') {
        from = 0;
        continue;
      }
      const bodyBytes = this.#text.length;
      this.#isAwaited = false;
      this.#text = '';
      const rewritten = this.#isOld() ? closing(head.rewritten) : head.rewritten;
      const passed = Buffer.allocUnsafe(rewritten.length + bodyBytes);
      chunk.copy(passed, passed.write(rewritten, 'latin1'), chunk.length - bodyBytes);
      return passed;
    }
  }

  #readHead(text: string): ResponseHead | BrokenRule {
    if (text === this.#last.text) return this.#last.head;
    const head = readHead(text, this.#keptS);
    // A slice keeps the whole text in memory.
    if (text.length <= MOST_REMEMBERED && this.#text.length <= MOST_REMEMBERED) this.#last = { text, head };
    return head;
  }
}

const CR_WITHOUT_LF: BrokenRule = { brokenRule: 'its lines end in a carriage return without a line feed' };
const TOO_LONG: BrokenRule = { brokenRule: `its headers are longer than ${MOST_HEADER_BYTES} bytes` };

const LINE_TOO_LONG: BrokenRule = { brokenRule: `its status line is longer than ${MOST_HEADER_BYTES} bytes` };

const beginsLikeHttp = (text: string): boolean => BEGINNING.startsWith(text.slice(0, BEGINNING.length).toUpperCase());

const headerBytes = (text: string, end: number): number => end - text.indexOf('\n') - 1;

/** Why no further bytes can make this a response; undefined if they can. */
function whyHopeless(text: string): BrokenRule | undefined {
  if (text.includes('\n')) {
    if (headerBytes(text, text.length) > MOST_HEADER_BYTES) return TOO_LONG;
    return readStatusLine(text) === undefined ? NO_STATUS_LINE : undefined;
  }
  if (text.length > MOST_HEADER_BYTES) return LINE_TOO_LONG;
  if (text.length > MOST_STATUS_LINE_BYTES) return readStatusLine(text) === undefined ? NO_STATUS_LINE : undefined;
  // A line that ends in CR alone, and an empty one.
  const line = text.search(CR_ALONE);
  return line !== -1 && text.includes('\r\r', line + 1) ? CR_WITHOUT_LF : undefined;
}
