import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { ProblemAnswer } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { explainSignIn } from './explain-sign-in.ts';
import { hostOf } from './issuer.ts';
import { grantFor, leadToIssuer, takeAnswer } from './open-id.ts';
import { keptToken, signIn, signInBy, signOut } from './session.ts';

type SignInProps = { settings: PageSettings; why: string | undefined };

export function SignInPage({ settings, why }: SignInProps) {
  const { view } = settings;
  const [token, setToken] = useState('');
  const [isKept, setKept] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState(why);
  useEffect(() => {
    document.title = 'Sign in – Waybell';
  }, []);

  const work = async (step: () => Promise<void>) => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await step();
    } catch (error) {
      setTrouble(explainSignIn(error, settings.signIn && hostOf(settings.signIn)));
    } finally {
      setBusy(false);
    }
  };
  useKnownToken(settings, work);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void work(() => signIn(token.trim(), { view, isKept }));
  };
  return (
    <main className="sign-in">
      <h1>Waybell</h1>
      <p>{view === 'operator' ? 'The console of operators.' : 'What became of your notifications, and why.'}</p>
      {trouble !== undefined && (
        <p className="state failed" role="alert">
          {trouble}
        </p>
      )}
      {settings.signIn !== undefined && <OpenId signIn={settings.signIn} isBusy={isBusy} isKept={isKept} work={work} />}
      <form onSubmit={submit}>
        <label htmlFor="token">Access token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <label className="choice">
          <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.target.checked)} />
          Keep me signed in until this tab is closed
        </label>
        <button type="submit" className="main" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p className="small">The token stays in this page. It goes to Waybell alone, and never into an address.</p>
    </main>
  );
}

type OpenIdProps = {
  signIn: NonNullable<PageSettings['signIn']>;
  isBusy: boolean;
  isKept: boolean;
  work: (step: () => Promise<void>) => Promise<void>;
};

function OpenId({ signIn: issuer, isBusy, isKept, work }: OpenIdProps) {
  return (
    <>
      <button
        type="button"
        className="main"
        disabled={isBusy}
        onClick={() => void work(() => leadToIssuer(issuer, isKept))}
      >
        Sign in with {hostOf(issuer)}
      </button>
      <p className="or">or</p>
    </>
  );
}

/** Signs in by the token that an issuer led back with, or that this tab kept. Once, though React looks twice. */
function useKnownToken({ view, signIn: issuer }: PageSettings, work: OpenIdProps['work']): void {
  const hasLooked = useRef(false);
  useEffect(() => {
    if (hasLooked.current) return;
    hasLooked.current = true;
    const kept = keptToken();
    const answer = issuer && takeAnswer();
    if (issuer !== undefined && answer !== undefined) {
      void work(async () => {
        const { isKept, ...grant } = await grantFor(issuer, answer);
        await signInBy(grant, { view, isKept, host: hostOf(issuer) });
      });
    } else if (kept !== null) {
      void work(async () => {
        try {
          await signIn(kept, { view, isKept: true });
        } catch (error) {
          if (error instanceof ProblemAnswer && !error.isPassing) signOut();
          throw error;
        }
      });
    }
  });
}
