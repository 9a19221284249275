import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Component, Suspense, use, useMemo, type ReactNode } from 'react';
import { ProblemAnswer } from './api/problem.ts';
import type { PageSettings } from './api/settings.ts';
import { Notices } from './parts/notices.tsx';
import { Failed, Loading } from './parts/states.tsx';
import { routerFor } from './router.tsx';
import { useSession } from './session/session.ts';
import { SignInPage } from './session/sign-in-page.tsx';

export function App({ settings }: { settings: Promise<PageSettings> }) {
  return (
    <Caught>
      <Suspense fallback={<Loading what="Waybell" />}>
        <Console settings={settings} />
      </Suspense>
    </Caught>
  );
}

function Console({ settings }: { settings: Promise<PageSettings> }) {
  const known = use(settings);
  const state = useSession();
  if (state.kind === 'out') return <SignInPage settings={known} why={state.why} />;
  return <SignedIn settings={known} />;
}

/** With its own memory of answers, which ends with the session. */
function SignedIn({ settings }: { settings: PageSettings }) {
  const queries = useMemo(() => new QueryClient({ defaultOptions: { queries: { retry, retryDelay } } }), []);
  const router = useMemo(() => routerFor(settings), [settings]);
  return (
    <QueryClientProvider client={queries}>
      <Notices>
        <RouterProvider router={router} />
      </Notices>
    </QueryClientProvider>
  );
}

/** What passes is asked again until it has passed, at the latest when the API said so; what was wrong stays wrong. */
const retry = (_failures: number, error: Error) => error instanceof ProblemAnswer && error.isPassing;
const retryDelay = (failures: number, error: Error) =>
  (error instanceof ProblemAnswer ? error.retryAfterMs : undefined) ?? Math.min(30_000, 500 * 2 ** failures);

/** What nobody foresaw ends the page, and says so. */
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
