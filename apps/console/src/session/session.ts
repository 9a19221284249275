import { createContext, use, useSyncExternalStore } from 'react';
import { askWith, root, type ActedFor, type ApiClient } from '../api/ask.ts';
import { isObject, problemOf, unreachable, ProblemAnswer } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { explainSignIn, isRefused } from './explain-sign-in.ts';
import { forget, keep, type SignInToken, listenToSiblings, tellSiblings, NAME, heldBySiblings } from './tabs.ts';
import { hostOf, renewAt } from './issuer.ts';

/** The owner of the token, and what it may do. */
export type Session = {
  ask: ApiClient;
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
type Current = ReturnType<typeof renewing> & {
  /** Beyond a reload, and for siblings. */
  isKept: boolean;
};

let state: SessionState = { kind: 'starting' };
let current: Current | undefined;
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

type How = {
  settings: PageSettings;
  isKept: boolean;
  /** Whether other tabs do not have it yet. */
  isNew: boolean;
};

/**
 * Signs in by a token, and renews it while its issuer allows that. What is kept, other tabs of this page have too: nothing is in an
 * address. Throws a Problem where the token does not hold.
 */
export async function signIn(first: SignInToken, { settings, isKept, isNew }: How): Promise<void> {
  const { view, signIn: issuer } = settings;
  const own: Current = {
    isKept,
    ...renewing(first, {
      renew: (held) => (issuer === undefined ? Promise.resolve(held) : renewAt(issuer, held)),
      onRenewed(held) {
        if (current !== own || !isKept) return;
        keep(held);
        tellSiblings({ kind: 'renewed', held });
      },
      onEnd(error) {
        if (current === own) signOut(`Your sign-in has ended. ${explainSignIn(error, issuer && hostOf(issuer))}`);
      },
    }),
  };
  current = own;
  try {
    const who = await whose(await own.access(), view);
    if (current !== own) return;
    if (isKept) keep(own.held());
    // A link is for the page that it was put into.
    if (isKept && isNew && !first.isByLink) tellSiblings({ kind: 'in', held: own.held() });
    const ask = askWith({ token: own.access, onSignedOut: (why) => leave(own, why) });
    become({ kind: 'in', session: { ask, view, ...who }, isByLink: first.isByLink === true });
  } catch (error) {
    if (current === own) current = undefined;
    throw error;
  }
}

/** Signs out, and with this tab all others that are signed in by the same. */
export function signOut(why?: string): void {
  if (current === undefined) return;
  tellSiblings({ kind: 'out', id: current.held().id });
  leave(current, why);
}

/** Signs out, unless another sign-in has replaced it meanwhile. */
function leave(left: Current, why?: string): void {
  if (current !== left) return;
  forget();
  current = undefined;
  const isOver = why !== undefined && left.held().isByLink === true;
  stayOut(isOver ? `${why} Ask for a new link, or reload the page that showed this one.` : why);
}

/** Whether another page shows this one within its own. */
export const isFramed = window.parent !== window;

/** Has people sign in, and says why. */
export function stayOut(why?: string): void {
  become({ kind: 'out', why });
}

/** Does what other tabs of this page do: signs in, goes on with a renewed token, signs out. */
export function followSiblings(settings: PageSettings): void {
  listenToSiblings({
    heldHere(id) {
      if (state.kind !== 'in' || current?.isKept !== true) return undefined;
      const held = current.held();
      return id === undefined || id === held.id ? held : undefined;
    },
    onIn(held) {
      // If the link fails, one can sign in here as well.
      if (state.kind === 'out' && !isFramed)
        signIn(held, { settings, isKept: true, isNew: false }).catch(() => undefined);
    },
    onRenewed(held) {
      if (current?.held().id !== held.id) return;
      current.adopt(held);
      keep(held);
    },
    onOut(id) {
      if (current?.held().id === id) leave(current);
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

/** Returns the session; only for parts that are shown after sign-in. */
export function useSignedIn(): Session {
  const now = useSession();
  const acting = use(Acting);
  if (now.kind !== 'in') throw new Error('nobody is signed in');
  return acting ?? now.session;
}

/** The session of an operator who acts for a client. Throws a Problem where there is no such account. */
export async function actFor(operator: Session, client: ActedFor): Promise<Session> {
  const { token, onSignedOut } = operator.ask;
  const ask = askWith({ token, onSignedOut, actingFor: client });
  return { ask, view: 'client', ...(await whoIs(ask.url('/v1/token'), await token())) };
}

export const mayWrite = ({ scopes }: Session): boolean => scopes.includes('webhooks:write');

async function whose(token: string, view: PageSettings['view']): Promise<Omit<Session, 'ask' | 'view'>> {
  return whoIs(new URL(view === 'operator' ? 'v1/admin/token' : 'v1/token', root).href, token);
}

async function whoIs(url: string, token: string): Promise<Omit<Session, 'ask' | 'view'>> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw unreachable();
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, body);
  const data = isObject(body) && isObject(body['data']) ? body['data']['object'] : body;
  // The document describes the answer so.
  const who = data as {
    account_guid: string;
    account_name?: string | null;
    client_id: string;
    interface?: 'shipper' | 'carrier';
    scopes: string[];
  };
  const { account_guid: account, account_name: name = null, client_id: client, interface: side, scopes } = who;
  return { account, name, client, interface: side, scopes };
}

/** The access token to ask with now. Throws a Problem where there is none. */
type Access = () => Promise<string>;

type Renewal = {
  /** Asks the issuer for the next one. */
  renew: (held: SignInToken) => Promise<SignInToken>;
  onRenewed: (held: SignInToken) => void;
  /** Called once the issuer refuses to renew it. */
  onEnd: (error: unknown) => void;
};

type Renewed = {
  access: Access;
  held: () => SignInToken;
  /** Goes on with what a sibling has. */
  adopt: (held: SignInToken) => void;
};

/** An access token is renewed this long before its end; at half of its life if that is shorter. */
const AHEAD_MS = 60_000;

/**
 * Access by what one is signed in by, renewed when it is asked for near its end: by one request for all who ask meanwhile, in this tab
 * and its siblings, since a refresh token may be good for one use. While the issuer does not answer, the token is used until its end.
 */
function renewing(first: SignInToken, { renew, onRenewed, onEnd }: Renewal): Renewed {
  let held = first;
  let renewAtMs = dueAtMs(first);
  let renewed: Promise<void> | undefined;

  const adopt = (next: SignInToken) => {
    held = next;
    renewAtMs = dueAtMs(next);
  };
  const isDue = () => held.refreshToken !== undefined && Date.now() >= renewAtMs;
  const renewInTurn = () =>
    inTurn(held.id, async () => {
      const theirs = await heldBySiblings(held.id);
      if (theirs !== undefined && (theirs.endsAtMs ?? 0) > (held.endsAtMs ?? 0)) adopt(theirs);
      if (!isDue()) return;
      adopt(await renew(held));
      onRenewed(held);
    });
  const access = async () => {
    if (!isDue()) return held.token;
    renewed ??= renewInTurn().finally(() => (renewed = undefined));
    try {
      await renewed;
    } catch (error) {
      if (isRefused(error)) {
        onEnd(error);
        throw over();
      }
      if (Date.now() >= (held.endsAtMs ?? Infinity)) throw error;
    }
    return held.token;
  };
  return { access, held: () => held, adopt };
}

function dueAtMs({ endsAtMs }: SignInToken): number {
  return endsAtMs === undefined ? Infinity : endsAtMs - Math.min(AHEAD_MS, (endsAtMs - Date.now()) / 2);
}

/** Does it in no two tabs at once. */
async function inTurn(id: string, work: () => Promise<void>): Promise<void> {
  await navigator.locks.request(`${NAME} ${id}`, work);
}

const over = (): ProblemAnswer =>
  new ProblemAnswer({ kind: 'invalid-token', status: 401, title: 'Signed out', detail: 'Your sign-in has ended.' });
