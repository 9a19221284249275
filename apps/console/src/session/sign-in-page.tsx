import { useEffect, useState, type SyntheticEvent } from 'react';
import { Foreign } from '../parts/text-block.tsx';
import { brandName, titled, type PageSettings } from '../settings.ts';
import { explainSignIn, hostOf, leadToIssuer } from './open-id.ts';
import { isFramed, signIn } from './session.ts';
import { newId } from './tabs.ts';

type SignInProps = { settings: PageSettings; why: string | undefined };

export function SignInPage({ settings, why }: SignInProps) {
  const { view, signIn: issuer } = settings;
  const [token, setToken] = useState('');
  const [isForgotten, setForgotten] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState(why);
  useEffect(() => {
    document.title = titled('Sign in');
  }, []);

  const work = async (step: () => Promise<void>) => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await step();
    } catch (error) {
      setTrouble(explainSignIn(error, issuer && hostOf(issuer)));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const signInToken = { id: newId(), token: token.trim() };
    void work(() => signIn(signInToken, { settings, isKept: !isForgotten, isNew: true }));
  };
  return (
    <main className="sign-in">
      <h1>
        <Foreign text={brandName} />
      </h1>
      <p>{view === 'operator' ? 'The console of operators.' : 'What became of your notifications, and why.'}</p>
      {trouble !== undefined && (
        <p className="state failed" role="alert">
          {trouble}
        </p>
      )}
      {/* No issuer lets itself be framed. */}
      {issuer !== undefined && !isFramed && (
        <OpenId signIn={issuer} isBusy={isBusy} lead={() => void work(() => leadToIssuer(issuer, !isForgotten))} />
      )}
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
          <input type="checkbox" checked={isForgotten} onChange={(event) => setForgotten(event.target.checked)} />
          Forget me when this tab is reloaded
        </label>
        <button type="submit" className="main" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p className="small">
        You stay signed in until you sign out or close the tab; tabs that you open from it are signed in too. The token
        goes to this API alone, and never into an address.
      </p>
    </main>
  );
}

type OpenIdProps = { signIn: NonNullable<PageSettings['signIn']>; isBusy: boolean; lead: () => void };

function OpenId({ signIn: issuer, isBusy, lead }: OpenIdProps) {
  return (
    <>
      <button type="button" className="main" disabled={isBusy} onClick={lead}>
        Sign in with {hostOf(issuer)}
      </button>
      <p className="or">or</p>
    </>
  );
}
