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
