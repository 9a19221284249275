import { Link } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { Found, troubleOf } from '../../parts/states.tsx';
import { NoSubscriptions } from '../subscriptions/no-subscriptions.tsx';
import { SubscribeButton } from '../subscriptions/subscribe-button.tsx';
import { SubscriptionDialogs } from '../subscriptions/subscription-dialogs.tsx';
import { SubscriptionTable } from '../subscriptions/subscription-table.tsx';
import { SwitchOnAll } from '../subscriptions/switch-on-all.tsx';
import { useSubscriptionRows, type ListedSubscription } from '../subscriptions/use-subscription-rows.ts';
import { LastDay } from './last-day.tsx';
import { NotDelivered } from './not-delivered.tsx';

/** The first page of a client: what needs attention, how the last 24 hours went, and what did not get through. */
export function ClientOverview() {
  const { subscriptions, statistics, retrying, waiting, rows } = useSubscriptionRows();
  const untold = [retrying, waiting].find((each) => each.data === undefined || troubleOf(each) !== null);
  return (
    <SubscriptionDialogs>
      <Page
        title="Overview"
        tools={<SubscribeButton current={subscriptions.data?.objects} isMain={rows.length === 0} />}
      >
        <Found of={subscriptions} what="the subscriptions">
          {({ objects }) => (objects.length === 0 ? <NoSubscriptions /> : <Attention rows={rows} />)}
        </Found>
        {untold !== undefined && (
          <Found of={untold} what="unfinished deliveries">
            {() => null}
          </Found>
        )}
        <Found of={statistics} what="the last 24 hours">
          {({ since, objects }) => objects.length > 0 && <LastDay since={since} actions={objects} />}
        </Found>
        <NotDelivered retrying={retrying} waiting={waiting} />
      </Page>
    </SubscriptionDialogs>
  );
}

/** Number of subscriptions shown here; their own page has the rest, in the same order. */
const SHOWN = 10;

function Attention({ rows }: { rows: readonly ListedSubscription[] }) {
  const troubled = rows.filter(({ condition }) => condition !== 'active' && condition !== 'not known yet');
  const isKnown = rows.every(({ condition }) => condition !== 'not known yet');
  return (
    <section className="part" aria-label="Needs attention">
      <div className="section-header">
        <h2>Needs attention</h2>
        <SwitchOnAll rows={troubled} />
      </div>
      {troubled.length === 0 && isKnown && (
        <p className="card line">
          <span className="good" aria-hidden="true">
            ✓
          </span>
          <Link to="/subscriptions">
            {rows.length === 1 ? 'Your subscription is' : `All ${rows.length} subscriptions are`} active
          </Link>
          and none fails.
        </p>
      )}
      {troubled.length > 0 && (
        <SubscriptionTable label="Subscriptions that need attention" rows={troubled.slice(0, SHOWN)} />
      )}
      {troubled.length > SHOWN && (
        <p>
          <Link to="/subscriptions">{troubled.length - SHOWN} more</Link>
        </p>
      )}
    </section>
  );
}
