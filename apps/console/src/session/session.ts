import { createContext, use, useSyncExternalStore } from 'react';
import { askWith, root, type ActedFor, type ApiClient } from '../api/ask.ts';
import { isObject, problemOf, unreachable } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { renewing, type Access } from './access.ts';
import { explainSignIn } from './explain-sign-in.ts';
import type { TokenGrant } from './issuer.ts';

/** The owner of the token, and what it may do. */
export type Session = {
  ask: ApiClient;
  view: PageSettings['view'];
  account: string;
  /** Of the account; null where it has none. */
  name: string | null;
  client: string;
  interface: 'shipper' | 'carrier' | undefined;
  scopes: readonly string[];
};

type SessionState = { kind: 'out'; why?: string | undefined } | { kind: 'in'; session: Session };

const KEPT = 'waybell.token';

let state: SessionState = { kind: 'out' };
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

type How = { view: PageSettings['view']; isKept: boolean };

/** The token is in memory; in the tab's session storage where one asked for that. It never is in an address. */
export async function signIn(token: string, { view, isKept }: How): Promise<void> {
  const who = await whose(token, view);
  if (isKept) sessionStorage.setItem(KEPT, token);
  enter(() => Promise.resolve(token), { view, ...who });
}

/** Signs in with an issuer's grant, and renews the token while the issuer allows it. The refresh token stays in memory. */
export async function signInBy(grant: TokenGrant, { view, isKept, host }: How & { host: string }): Promise<void> {
  const who = await whose(grant.token, view);
  const keep = (token: string) => {
    if (isKept) sessionStorage.setItem(KEPT, token);
  };
  keep(grant.token);
  const isStillIn = () => state.kind === 'in' && state.session === session;
  const session = enter(
    renewing({
      grant,
      onRenewed: (token) => {
        if (isStillIn()) keep(token);
      },
      onEnd: (error) => {
        if (isStillIn()) signOut(`Your sign-in has ended. ${explainSignIn(error, host)}`);
      },
    }),
    { view, ...who },
  );
}

function enter(access: Access, who: Omit<Session, 'ask'>): Session {
  const session = { ask: askWith({ token: access, onSignedOut: signOut }), ...who };
  become({ kind: 'in', session });
  return session;
}

export function signOut(why?: string): void {
  sessionStorage.removeItem(KEPT);
  become({ kind: 'out', why });
}

export const keptToken = (): string | null => sessionStorage.getItem(KEPT);

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** What is below it is asked and shown as for the client of this session, though an operator signed in. */
export const Acting = createContext<Session | undefined>(undefined);

/** For what is shown to those alone who signed in. */
export function useSignedIn(): Session {
  const now = useSession();
  const acting = use(Acting);
  if (now.kind === 'out') throw new Error('nobody is signed in');
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
  // As the document says of it.
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
