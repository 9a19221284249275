import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Component, Suspense, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { ActedFor } from './api/create-api.ts';
import { ProblemAnswer } from './api/problem.ts';
import { Notices } from './parts/notices.tsx';
import { Failed, Loading } from './parts/states.tsx';
import { routerFor } from './router.tsx';
import { placeOfClient, useClientInAddress } from './session/acting.ts';
import { actFor, Acting, useSession, useSignedIn, type Session } from './session/session.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import type { PageSettings } from './settings.ts';

export function App({ settings }: { settings: Promise<PageSettings> }) {
  return (
    <Caught>
      <Suspense fallback={<Loading what="the console" />}>
        <Console settings={settings} />
      </Suspense>
    </Caught>
  );
}

function Console({ settings }: { settings: Promise<PageSettings> }) {
  const known = use(settings);
  const state = useSession();
  if (state.kind === 'starting') return <Loading what="the console" />;
  if (state.kind === 'out') return <SignInPage settings={known} why={state.why} />;
  return <SignedIn settings={known} />;
}

function SignedIn({ settings }: { settings: PageSettings }) {
  const client = useClientInAddress();
  if (settings.view === 'client' || client === undefined) return <Pages key="own" settings={settings} />;
  return <ActingFor key={placeOfClient(client)} {...client} settings={settings} />;
}

/** The pages of a client, for an operator. */
function ActingFor({ account, client, settings }: ActedFor & { settings: PageSettings }) {
  const operator = useSignedIn();
  const [session, setSession] = useState<Session | Error>();
  const ofClient = useMemo(() => ({ ...settings, view: 'client' as const }), [settings]);
  useEffect(() => {
    actFor(operator, { account, client }).then(setSession, (error: unknown) =>
      setSession(error instanceof Error ? error : new Error(String(error))),
    );
  }, [operator, account, client]);
  if (session === undefined) return <Loading what="the client" />;
  if (session instanceof Error) {
    return (
      <main>
        <Failed error={session} />
        <p>
          <a href="#/accounts">Accounts</a>
        </p>
      </main>
    );
  }
  return (
    <Acting value={session}>
      <Pages settings={ofClient} basepath={placeOfClient({ account, client })} />
    </Acting>
  );
}

/** The pages, with their own cache of answers, which ends with the session. */
function Pages({ settings, basepath }: { settings: PageSettings; basepath?: string }) {
  const queries = useMemo(() => new QueryClient({ defaultOptions: { queries: { retry, retryDelay } } }), []);
  const router = useMemo(() => routerFor(settings, basepath), [settings, basepath]);
  return (
    <QueryClientProvider client={queries}>
      <Notices>
        <RouterProvider router={router} />
      </Notices>
    </QueryClientProvider>
  );
}

/** Repeats what failed for the moment until it succeeds, after the pause that the API named, if any; other errors stay. */
const retry = (_failures: number, error: Error) => error instanceof ProblemAnswer && error.isPassing;
const retryDelay = (failures: number, error: Error) =>
  (error instanceof ProblemAnswer ? error.retryAfterMs : undefined) ?? Math.min(30_000, 500 * 2 ** failures);

/** Shows a message in place of the page after an unforeseen error. */
class Caught extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main>
        <Failed error={error} retry={() => location.reload()} />
      </main>
    );
  }
}
