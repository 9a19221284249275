import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { Foreign } from './parts/text-block.tsx';
import { isFramed, signOut, useIsByLink, useSignedIn } from './session/session.ts';
import { brandName } from './settings.ts';

/** The frame of every page: navigation, search, and the user. */
export function Shell() {
  const { view } = useSignedIn();
  return (
    <>
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <div className="shell">
        <header className="rail">
          <strong className="brand">
            <Foreign text={brandName} />
          </strong>
          <nav aria-label="Pages">{view === 'operator' ? <OperatorLinks /> : <ClientLinks />}</nav>
          <Who />
        </header>
        <div className="content">
          <ActingBanner />
          <Search />
          <main id="main" tabIndex={-1}>
            <Outlet />
          </main>
        </div>
      </div>
    </>
  );
}

function ClientLinks() {
  const { api } = useSignedIn();
  return (
    <>
      <Link to="/" activeOptions={{ exact: true }}>
        Overview
      </Link>
      <Link to="/deliveries">Deliveries</Link>
      <Link to="/subscriptions">Subscriptions</Link>
      <Link to="/missed">Missed</Link>
      <Link to="/live">Live</Link>
      <Link to="/catalog">Catalog</Link>
      {api.actingFor === undefined && (
        <>
          <Link to="/credentials">Credentials</Link>
          <Link to="/secrets">Secrets</Link>
        </>
      )}
    </>
  );
}

function OperatorLinks() {
  return (
    <>
      <Link to="/" activeOptions={{ exact: true }}>
        Overview
      </Link>
      <Link to="/deliveries">Deliveries</Link>
      <Link to="/accounts">Accounts</Link>
      <Link to="/failing">Failing</Link>
      <Link to="/switched-off">Switched off</Link>
      <Link to="/stopped">Stopped</Link>
      <Link to="/rejected">Rejected</Link>
      <Link to="/audit">Audit log</Link>
      <Link to="/queues">Queues</Link>
    </>
  );
}

function Who() {
  const { view, account, name, client, interface: side, api } = useSignedIn();
  const isByLink = useIsByLink();
  if (api.actingFor !== undefined) return null;
  return (
    <div className="who">
      <span title={account}>
        <strong>
          <Foreign text={name ?? account.slice(0, 8)} />
        </strong>
        <Foreign text={`${view === 'operator' ? 'operator' : side} · ${client}`} />
      </span>
      {/* A session by the link of a page around this one ends there. */}
      {!(isByLink && isFramed) && (
        <button type="button" className="quiet" onClick={() => signOut()}>
          Sign out
        </button>
      )}
    </div>
  );
}

/** Shows an operator, above every page, for which client it acts. */
function ActingBanner() {
  const { api, account, name, client, interface: side } = useSignedIn();
  if (api.actingFor === undefined) return null;
  return (
    <div className="acting" role="note">
      <span>
        Acting for{' '}
        <strong>
          <Foreign text={name ?? account.slice(0, 8)} />
        </strong>{' '}
        ({side}), client{' '}
        <strong>
          <Foreign text={client} />
        </strong>
        . The audit log names you.
      </span>
      <a href={`#/accounts/${account}`}>Back to the account</a>
    </div>
  );
}

/** Focuses the content. The browser must not follow the link: what lies behind the # is the address of a page. */
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
    if (wanted !== '') void navigate({ to: view === 'operator' ? '/why' : '/find', search: { text: wanted } });
  };
  return (
    <form role="search" onSubmit={find}>
      <input
        ref={field}
        type="search"
        aria-label="Search an order number, VIN, guid, URL or host"
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
