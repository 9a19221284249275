/**
 * The token that this tab is signed in by, and what it shares with its siblings: the other tabs of this page. A tab stores its token
 * until it is closed; a new tab has none, and asks its siblings. They speak over a channel of the browser:
 *
 *   ask      a tab looks for a token: any, or the latest of one id
 *   answer   each sibling that has such a token, to that tab alone
 *   in       a tab has signed in, by a token of its own
 *   renewed  a tab has the next token of the same id
 *   out      a tab has signed out: whoever has that id follows
 *
 * A frame that may store nothing, or has no channel, has its token in memory alone.
 */

/** The token of a sign-in. A tab has it, and its siblings the same. */
export type SignInToken = {
  /** The same in each tab that has it. */
  id: string;
  token: string;
  /** The end of the token by this browser's clock; undefined where it is not known. */
  endsAtMs?: number | undefined;
  /** The issuer's, good for one use perhaps. */
  refreshToken?: string | undefined;
  /** Whether a link opened the page, as a platform makes them. */
  isByLink?: boolean | undefined;
};

/** Returns a new id, also over plain http, where browsers make no UUID. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

/** The name of what tabs of this page share. A page of the same origin below another path has another. */
export const NAME = `waybell.signed-in ${location.pathname}`;

/** Stores the token for this tab, until that is closed. */
export function keep(token: SignInToken): void {
  withStorage((storage) => storage.setItem(NAME, JSON.stringify(token)));
}

/** Returns the token that this tab has stored. */
export function kept(): SignInToken | undefined {
  const text = withStorage((storage) => storage.getItem(NAME));
  // It was written here.
  return text ? (JSON.parse(text) as SignInToken) : undefined;
}

export function forget(): void {
  withStorage((storage) => storage.removeItem(NAME));
}

/** Browsers that store nothing for a page throw when it asks for its storage. */
function withStorage<T>(work: (storage: Storage) => T): T | undefined {
  try {
    return work(sessionStorage);
  } catch {
    return undefined;
  }
}

type SiblingMessage =
  | { kind: 'ask'; from: string; id: string | undefined }
  | { kind: 'answer'; to: string; held: SignInToken; usedAtMs: number }
  | { kind: 'in'; held: SignInToken }
  | { kind: 'renewed'; held: SignInToken }
  | { kind: 'out'; id: string };

type SiblingListener = {
  /** Returns this tab's token if it may be shared and has this id, or whatever its id where none is given. */
  tokenHere: (id: string | undefined) => SignInToken | undefined;
  onIn: (token: SignInToken) => void;
  onRenewed: (token: SignInToken) => void;
  onOut: (id: string) => void;
};

/** Siblings have this long to answer. `onIn` handles later answers. */
const ANSWER_MS = 150;

const tabId = newId();
const channel = open();
/** When somebody last used this tab. */
let usedAtMs = 0;
/** The answers so far; undefined while this tab has not asked. */
let answers: Extract<SiblingMessage, { kind: 'answer' }>[] | undefined;

/** Listens to siblings, and answers them. Called once. */
export function listenToSiblings(listener: SiblingListener): void {
  for (const event of ['pointerdown', 'keydown']) addEventListener(event, () => (usedAtMs = Date.now()), true);
  channel?.addEventListener('message', ({ data }: MessageEvent<SiblingMessage>) => receive(data, listener));
}

function receive(message: SiblingMessage, { tokenHere, onIn, onRenewed, onOut }: SiblingListener): void {
  switch (message.kind) {
    case 'ask': {
      const held = tokenHere(message.id);
      if (held !== undefined) postToSiblings({ kind: 'answer', to: message.from, held, usedAtMs });
      return;
    }
    case 'answer':
      if (message.to !== tabId) return;
      if (answers === undefined) onIn(message.held);
      else answers.push(message);
      return;
    case 'in':
      return onIn(message.held);
    case 'renewed':
      return onRenewed(message.held);
    case 'out':
      return onOut(message.id);
  }
}

export function postToSiblings(message: SiblingMessage): void {
  // A channel has one origin, and no argument for it.
  // oxlint-disable-next-line require-post-message-target-origin
  channel?.postMessage(message);
}

/** Returns a sibling's token: with an id, the latest of that id; without one, that of the tab that was used last, from which this one was opened. */
export async function askSiblings(id?: string): Promise<SignInToken | undefined> {
  if (channel === undefined) return undefined;
  answers = [];
  postToSiblings({ kind: 'ask', from: tabId, id });
  await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  const received = answers;
  answers = undefined;
  const order = id === undefined ? byUse : byEnd;
  return received.toSorted(order).at(-1)?.held;
}

type SiblingAnswer = { held: SignInToken; usedAtMs: number };

const byUse = (one: SiblingAnswer, other: SiblingAnswer) => one.usedAtMs - other.usedAtMs;
const byEnd = (one: SiblingAnswer, other: SiblingAnswer) => (one.held.endsAtMs ?? 0) - (other.held.endsAtMs ?? 0);

/** Opens the channel; a frame without an origin has none. */
function open(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(NAME);
  } catch {
    return undefined;
  }
}
