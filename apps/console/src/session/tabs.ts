/** The token of a sign-in. A tab holds it, and its siblings the same. */
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

/** Over plain http, too, where browsers make no UUID. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');

/** Another page of the same origin, below another path, is not this one. */
export const NAME = `waybell.signed-in ${location.pathname}`;

/** Keeps it for this tab until that is closed. A frame that may keep nothing has it in memory alone. */
export function keep(held: SignInToken): void {
  withStorage((storage) => storage.setItem(NAME, JSON.stringify(held)));
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

/** Browsers that keep nothing for a page throw where it asks for its storage. */
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
  /** A tab has signed in. */
  | { kind: 'in'; held: SignInToken }
  | { kind: 'renewed'; held: SignInToken }
  | { kind: 'out'; id: string };

type SiblingListener = {
  /** Returns this tab's token, which others may have by its id, or without one. */
  heldHere: (id: string | undefined) => SignInToken | undefined;
  onIn: (held: SignInToken) => void;
  onRenewed: (held: SignInToken) => void;
  onOut: (id: string) => void;
};

/** Siblings have this long to answer. `onIn` handles later answers. */
const ANSWER_MS = 150;

const ownName = newId();
const channel = open();
let usedAtMs = 0;
let answers: Extract<SiblingMessage, { kind: 'answer' }>[] | undefined;

/** Hears other tabs of this page, and answers them. Once. */
export function listenToSiblings(listener: SiblingListener): void {
  for (const event of ['pointerdown', 'keydown']) addEventListener(event, () => (usedAtMs = Date.now()), true);
  channel?.addEventListener('message', ({ data }: MessageEvent<SiblingMessage>) => hear(data, listener));
}

function hear(message: SiblingMessage, { heldHere, onIn, onRenewed, onOut }: SiblingListener): void {
  switch (message.kind) {
    case 'ask': {
      const held = heldHere(message.id);
      if (held !== undefined) tellSiblings({ kind: 'answer', to: message.from, held, usedAtMs });
      return;
    }
    case 'answer':
      if (message.to !== ownName) return;
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

export function tellSiblings(message: SiblingMessage): void {
  // A channel has one origin, and no argument for it.
  // oxlint-disable-next-line require-post-message-target-origin
  channel?.postMessage(message);
}

/** Returns the token of other tabs of this page: the latest with this id; or that of the tab used last, which led here. */
export async function heldBySiblings(id?: string): Promise<SignInToken | undefined> {
  if (channel === undefined) return undefined;
  answers = [];
  tellSiblings({ kind: 'ask', from: ownName, id });
  await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  const heard = answers;
  answers = undefined;
  const order = id === undefined ? byUse : byEnd;
  return heard.toSorted(order).at(-1)?.held;
}

type SiblingAnswer = { held: SignInToken; usedAtMs: number };

const byUse = (one: SiblingAnswer, other: SiblingAnswer) => one.usedAtMs - other.usedAtMs;
const byEnd = (one: SiblingAnswer, other: SiblingAnswer) => (one.held.endsAtMs ?? 0) - (other.held.endsAtMs ?? 0);

/** A frame whose origin is nobody's has none. */
function open(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(NAME);
  } catch {
    return undefined;
  }
}
