import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { Found, troubleOf } from '../../parts/states.tsx';
import { NoSubscriptions, SubscribeButton } from './subscribe-dialog.tsx';
import { SubscriptionDialogs, SwitchOnAll } from './subscription-dialogs.tsx';
import { SubscriptionTable } from './subscription-table.tsx';
import { useSubscriptionRows, type ListedSubscription } from './use-subscription-rows.ts';

/** From so many on, there is a filter. */
const MANY = 8;

/** The client's subscriptions, the most urgent first, and their last 24 hours. */
export function SubscriptionsPage() {
  const { subscribe: wanted } = useSearch({ from: '/subscriptions' });
  const { subscriptions, statistics, rows } = useSubscriptionRows();
  const trouble = troubleOf(statistics);
  return (
    <SubscriptionDialogs>
      <Page
        title="Subscriptions"
        tools={
          <div className="tools">
            <SwitchOnAll rows={rows} />
            <SubscribeButton
              current={subscriptions.data?.objects}
              wanted={wanted}
              isMain={rows[0]?.condition !== 'switched off'}
            />
          </div>
        }
      >
        <Found of={subscriptions} what="the subscriptions">
          {({ objects }) => (objects.length === 0 ? <NoSubscriptions /> : <Subscriptions rows={rows} />)}
        </Found>
        {trouble !== null && <p className="small">Statistics unavailable: {trouble.message}</p>}
      </Page>
    </SubscriptionDialogs>
  );
}

function Subscriptions({ rows }: { rows: readonly ListedSubscription[] }) {
  const [text, setText] = useState('');
  const words = text.toLowerCase().split(/\s+/);
  const shown = rows.filter(({ subscription: { action, callback_url: url, guid }, condition }) =>
    words.every((word) => `${action} ${url} ${guid} ${condition}`.toLowerCase().includes(word)),
  );
  return (
    <>
      {rows.length >= MANY && (
        <div className="filters">
          <label>
            Filter
            <br />
            <input
              type="search"
              placeholder="Action, URL or status"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <span className="small" role="status">
            {shown.length} of {rows.length}
          </span>
        </div>
      )}
      {shown.length === 0 ? (
        <p className="state">No subscription matches.</p>
      ) : (
        <SubscriptionTable label="Subscriptions" rows={shown} />
      )}
    </>
  );
}
