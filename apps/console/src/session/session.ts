/**
 * The session of this tab: who is signed in, by which token, and what it permits.
 *
 *   starting ─┬─ signIn ──► in (session) ── signOut, leave ──► out (why) ── signIn ──► in …
 *             └─ stayOut ───────────────────────────────────►
 *
 * `leave` follows a 401 of the API, the end of the token, and the sign-out of a sibling; a tab that is out signs in when a sibling
 * does. A sign-in that another one replaces meanwhile changes nothing any more: each step compares itself with `current`. An operator
 * may act for a client: whatever is below `Acting` then uses the session of the client.
 */
import { createContext, use, useSyncExternalStore } from 'react';
import { createApi, root, type ActedFor, type ApiClient } from '../api/create-api.ts';
import { isObject, ProblemAnswer, problemOf, unreachable } from '../api/problem.ts';
import type { PageSettings } from '../settings.ts';
import { explainSignIn, hostOf, isRefused, renewAt } from './open-id.ts';
import { askSiblings, forget, keep, listenToSiblings, NAME, postToSiblings, type SignInToken } from './tabs.ts';

/** The owner of the token, and what it may do. */
export type Session = {
  api: ApiClient;
  view: PageSettings['view'];
  account: string;
  /** The account's name; null if it has none. */
  name: string | null;
  client: string;
  interface: 'shipper' | 'carrier' | undefined;
  scopes: readonly string[];
};

type SessionState =
  /** It is not known yet whether there is something to sign in by. */
  | { kind: 'starting' }
  | { kind: 'out'; why?: string | undefined }
  | { kind: 'in'; session: Session; isByLink: boolean };

/** The current sign-in of this tab, or the one under way. */
type Current = RenewedToken & {
  /** Whether it survives a reload, and siblings share it. */
  isKept: boolean;
};

let state: SessionState = { kind: 'starting' };
let current: Current | undefined;
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

type SignInOptions = {
  settings: PageSettings;
  isKept: boolean;
  /** Whether other tabs do not have the token yet. */
  isNew: boolean;
};

/**
 * Signs in by a token, and renews it while its issuer allows that. A token that is kept, other tabs of this page have too: no address
 * contains one. Throws a Problem where the token is not valid.
 */
export async function signIn(first: SignInToken, { settings, isKept, isNew }: SignInOptions): Promise<void> {
  const { view, signIn: issuer } = settings;
  const begun: Current = {
    isKept,
    ...renewing(first, {
      renew: (last) => (issuer === undefined ? Promise.resolve(last) : renewAt(issuer, last)),
      onRenewed(held) {
        if (current !== begun || !isKept) return;
        keep(held);
        postToSiblings({ kind: 'renewed', held });
      },
      onEnd(error) {
        if (current === begun) signOut(`Your sign-in has ended. ${explainSignIn(error, issuer && hostOf(issuer))}`);
      },
    }),
  };
  current = begun;
  try {
    const owner = await ownerOf(await begun.access(), view);
    if (current !== begun) return;
    if (isKept) keep(begun.token());
    // A link is for the page that it was put into.
    if (isKept && isNew && !first.isByLink) postToSiblings({ kind: 'in', held: begun.token() });
    const api = createApi({ token: begun.access, onSignedOut: (why) => leave(begun, why) });
    become({ kind: 'in', session: { api, view, ...owner }, isByLink: first.isByLink === true });
  } catch (error) {
    if (current === begun) current = undefined;
    throw error;
  }
}

/** Signs out, and with this tab all others that are signed in by the same. */
export function signOut(why?: string): void {
  if (current === undefined) return;
  postToSiblings({ kind: 'out', id: current.token().id });
  leave(current, why);
}

/** Signs out, unless another sign-in has replaced it meanwhile. */
function leave(left: Current, why?: string): void {
  if (current !== left) return;
  forget();
  current = undefined;
  const isOver = why !== undefined && left.token().isByLink === true;
  stayOut(isOver ? `${why} Ask for a new link, or reload the page that showed this one.` : why);
}

/** Shows the sign-in page, with the reason why nobody is signed in. */
export function stayOut(why?: string): void {
  become({ kind: 'out', why });
}

/** Whether another page shows this one within its own. */
export const isFramed = window.parent !== window;

/** Does what other tabs of this page do: signs in, continues with a renewed token, signs out. */
export function followSiblings(settings: PageSettings): void {
  listenToSiblings({
    tokenHere(id) {
      if (state.kind !== 'in' || current?.isKept !== true) return undefined;
      const token = current.token();
      return id === undefined || id === token.id ? token : undefined;
    },
    onIn(token) {
      // If that fails, one can still sign in here.
      if (state.kind === 'out' && !isFramed)
        signIn(token, { settings, isKept: true, isNew: false }).catch(() => undefined);
    },
    onRenewed(token) {
      if (current?.token().id !== token.id) return;
      current.adopt(token);
      keep(token);
    },
    onOut(id) {
      if (current?.token().id === id) leave(current);
    },
  });
}

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Whether a link has signed in, and no person. */
export function useIsByLink(): boolean {
  const now = useSession();
  return now.kind === 'in' && now.isByLink;
}

/** Everything below it uses this client session, though an operator signed in. */
export const Acting = createContext<Session | undefined>(undefined);

/** Returns the session; only for components that are shown after sign-in. */
export function useSignedIn(): Session {
  const now = useSession();
  const acting = use(Acting);
  if (now.kind !== 'in') throw new Error('nobody is signed in');
  return acting ?? now.session;
}

/** The session of an operator who acts for a client. Throws a Problem where there is no such account. */
export async function actFor(operator: Session, client: ActedFor): Promise<Session> {
  const { token, onSignedOut } = operator.api;
  const api = createApi({ token, onSignedOut, actingFor: client });
  return { api, view: 'client', ...(await readOwner(api.url('/v1/token'), await token())) };
}

export const mayWrite = ({ scopes }: Session): boolean => scopes.includes('webhooks:write');

type SessionOwner = Omit<Session, 'api' | 'view'>;

const ownerOf = async (token: string, view: PageSettings['view']): Promise<SessionOwner> =>
  readOwner(new URL(view === 'operator' ? 'v1/admin/token' : 'v1/token', root).href, token);

async function readOwner(url: string, token: string): Promise<SessionOwner> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw unreachable();
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, body);
  const data = isObject(body) && isObject(body['data']) ? body['data']['object'] : body;
  // The document describes the answer so.
  const owner = data as {
    account_guid: string;
    account_name?: string | null;
    client_id: string;
    interface?: 'shipper' | 'carrier';
    scopes: string[];
  };
  const { account_guid: account, account_name: name = null, client_id: client, interface: side, scopes } = owner;
  return { account, name, client, interface: side, scopes };
}

type Renewal = {
  /** Requests the next token from the issuer. */
  renew: (last: SignInToken) => Promise<SignInToken>;
  onRenewed: (token: SignInToken) => void;
  /** Called once the issuer refuses to renew it. */
  onEnd: (error: unknown) => void;
};

type RenewedToken = {
  /** Returns the access token for a request that is made now. Throws a Problem where there is none. */
  access: () => Promise<string>;
  token: () => SignInToken;
  /** Continues with the token of a sibling. */
  adopt: (token: SignInToken) => void;
};

/** An access token is renewed this long before its end; at half of its life if that is shorter. */
const AHEAD_MS = 60_000;

/**
 * A token that is renewed when it is used near its end: by one request for all who use it meanwhile, in this tab and its siblings,
 * since a refresh token may be good for one use. While the issuer does not answer, the token is used until its end.
 */
function renewing(first: SignInToken, { renew, onRenewed, onEnd }: Renewal): RenewedToken {
  let token = first;
  let renewAtMs = dueAtMs(first);
  let renewed: Promise<void> | undefined;

  const adopt = (next: SignInToken) => {
    token = next;
    renewAtMs = dueAtMs(next);
  };
  const isDue = () => token.refreshToken !== undefined && Date.now() >= renewAtMs;
  const renewOnce = () =>
    inOneTab(token.id, async () => {
      const theirs = await askSiblings(token.id);
      if (theirs !== undefined && (theirs.endsAtMs ?? 0) > (token.endsAtMs ?? 0)) adopt(theirs);
      if (!isDue()) return;
      adopt(await renew(token));
      onRenewed(token);
    });
  const access = async () => {
    if (!isDue()) return token.token;
    renewed ??= renewOnce().finally(() => (renewed = undefined));
    try {
      await renewed;
    } catch (error) {
      if (isRefused(error)) {
        onEnd(error);
        throw ended();
      }
      if (Date.now() >= (token.endsAtMs ?? Infinity)) throw error;
    }
    return token.token;
  };
  return { access, token: () => token, adopt };
}

function dueAtMs({ endsAtMs }: SignInToken): number {
  return endsAtMs === undefined ? Infinity : endsAtMs - Math.min(AHEAD_MS, (endsAtMs - Date.now()) / 2);
}

/** Works once no other tab works under the same id. */
async function inOneTab(id: string, work: () => Promise<void>): Promise<void> {
  await navigator.locks.request(`${NAME} ${id}`, work);
}

const ended = (): ProblemAnswer =>
  new ProblemAnswer({ kind: 'invalid-token', status: 401, title: 'Signed out', detail: 'Your sign-in has ended.' });
