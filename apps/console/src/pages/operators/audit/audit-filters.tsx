import { getRouteApi } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { localOf } from '../../../parts/time.ts';

const route = getRouteApi('/audit');

type AuditFilter = { account?: string; subscription?: string; since?: string };

/** Filters of the changes, kept in the address. */
export function AuditFilters({ filter }: { filter: AuditFilter }) {
  const navigate = route.useNavigate();
  const [account, setAccount] = useState(filter.account ?? '');
  const [subscription, setSubscription] = useState(filter.subscription ?? '');
  const [since, setSince] = useState(filter.since === undefined ? '' : localOf(filter.since));
  const look = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = {
      account: account.trim(),
      subscription: subscription.trim(),
      since: since === '' ? '' : new Date(since).toISOString(),
    };
    void navigate({ search: Object.fromEntries(Object.entries(wanted).filter(([, text]) => text !== '')) });
  };
  return (
    <form className="filters" onSubmit={look}>
      <label>
        Account
        <br />
        <input value={account} placeholder="Guid" onChange={(event) => setAccount(event.target.value)} />
      </label>
      <label>
        Subscription
        <br />
        <input value={subscription} placeholder="Guid" onChange={(event) => setSubscription(event.target.value)} />
      </label>
      <label>
        Since
        <br />
        <input type="datetime-local" value={since} onChange={(event) => setSince(event.target.value)} />
      </label>
      <button type="submit">Filter</button>
      {Object.keys(filter).length > 0 && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </button>
      )}
    </form>
  );
}
