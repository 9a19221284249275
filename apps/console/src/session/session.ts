import { createContext, use, useSyncExternalStore } from 'react';
import { askWith, root, type ActedFor, type ApiClient } from '../api/ask.ts';
import { isObject, problemOf, unreachable } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { renewing } from './access.ts';
import { explainSignIn } from './explain-sign-in.ts';
import { forget, keep, type SignInToken } from './held.ts';
import { hostOf, renewAt } from './issuer.ts';
import { listenToSiblings, tellSiblings } from './siblings.ts';

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
