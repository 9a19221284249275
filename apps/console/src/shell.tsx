import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { signOut, useSignedIn } from './session/session.ts';

/** What is around every page: the search, the ways to the pages, and who signed in. */
export function Shell() {
  const session = useSignedIn();
  return (
    <>
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <header className="shell">
        <strong className="brand">Waybell</strong>
        <Search />
        <nav aria-label="Pages">{session.view === 'operator' ? <OperatorLinks /> : <ClientLinks />}</nav>
        <div className="who">
          <span title={session.account}>
            {session.view === 'operator' ? 'operator' : session.interface} {session.account.slice(0, 8)} ·{' '}
            {session.client}
          </span>
          <button type="button" className="quiet" onClick={() => signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

function ClientLinks() {
  return (
    <>
      <Link to="/subscriptions">Subscriptions</Link>
      <Link to="/live">Live</Link>
      <Link to="/catalog">Catalog</Link>
      <Link to="/credentials">Credentials</Link>
      <Link to="/secrets">Secrets</Link>
    </>
  );
}

function OperatorLinks() {
  return (
    <>
      <Link to="/queues">Queues</Link>
      <Link to="/failing">Failing</Link>
      <Link to="/switched-off">Switched off</Link>
      <Link to="/stopped">Stopped</Link>
      <Link to="/rejected">Rejected</Link>
      <Link to="/accounts">Accounts</Link>
      <Link to="/audit">Audit</Link>
    </>
  );
}

/** The address behind # is that of a page: the browser is not to go there. */
function skipToMain(event: SyntheticEvent) {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}

function Search() {
  const { view } = useSignedIn();
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || isWriting(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const find = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted !== '')
      void navigate({ to: view === 'operator' ? '/why/$text' : '/find/$text', params: { text: wanted } });
  };
  return (
    <form role="search" onSubmit={find}>
      <input
        ref={field}
        type="search"
        aria-label="Search an order number, VIN or guid"
        placeholder={`Order number, VIN, event, delivery${view === 'operator' ? ', account' : ''} …   /`}
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

/** Whether a key is typed into something. */
export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);
